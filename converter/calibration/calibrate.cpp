// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/calibrate.h"

#include <algorithm>

#include "converter/calibration/smooth_by_text.h"
#include "converter/encode_weight.h"
#include "host/base/error.h"
#include "host/base/parallel.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of products at a time

}  // namespace

Calibration::Calibration(Graph& graph, const TokenizerTables* tokenizer, const std::string& text,
                         const std::filesystem::path& target, const TextRun::Progress& progress)
    : graph_(graph) {
  if (is_encoder(graph.output_kind))
    fail("--calibrate takes a decoder: activations of encoders are smoothed without a text");
  if (tokenizer == nullptr) fail("--calibrate: the model has no tokenizer to read the text with");
  text_ =
      std::make_unique<TextRun>(graph, *tokenizer, text, target, [&](double share) { progress(share / 2); });
  smoothed_ = smooth_by_text(graph, *text_);
  find_inputs();
  if (smoothed_ == 0 && inputs_.empty()) fail("--calibrate: no matrix of the model is rounded");
  if (smoothed_ == 0 || inputs_.empty()) return;
  text_.reset();
  text_ = std::make_unique<TextRun>(graph, *tokenizer, text, target,
                                    [&](double share) { progress(0.5 + share / 2); });
}

std::string Calibration::describe() const {
  return fmt::format(
      "{} inputs of matrices are smoothed and {} matrices are calibrated with {} tokens of the text",
      smoothed_, inputs_.size(), text_->tokens());
}

void Calibration::find_inputs() {
  std::map<uint32_t, uint32_t> made_by;  // quantized values' nodes
  std::set<size_t> looked_up;
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    if (const auto* quantize = std::get_if<QuantizeNode>(&graph_.nodes[i])) {
      made_by[quantize->out.value] = i;
    } else if (const auto* embed = std::get_if<EmbedNode>(&graph_.nodes[i])) {
      looked_up.insert(static_cast<size_t>(embed->table));
    }
    const auto* linear = std::get_if<LinearNode>(&graph_.nodes[i]);
    if (linear == nullptr || made_by.count(linear->in.value) == 0) continue;
    const auto index = static_cast<size_t>(linear->weight);
    const Weight& weight = graph_.weights[index];
    if (!takes_error_feedback(weight.dtype) || is_read_exactly(weight) || looked_up.count(index) != 0 ||
        graph_.values[linear->in.value].unit != Unit::token)
      continue;
    const uint32_t node = made_by.at(linear->in.value);
    if (std::get<QuantizeNode>(graph_.nodes[node]).in.width == weight.cols) inputs_[index].insert(node);
  }
}

void Calibration::run_from(size_t weight) {
  std::map<std::set<uint32_t>, InputProducts> products;
  std::map<uint32_t, std::vector<InputProducts*>> of_node;
  std::vector<std::pair<size_t, InputProducts*>> wanted;
  uint64_t bytes = 0;
  for (auto at = inputs_.find(weight); at != inputs_.end(); ++at) {
    const uint32_t columns = graph_.weights[at->first].cols;
    if (products.count(at->second) == 0) {
      bytes += InputProducts::bytes(columns);
      if (!wanted.empty() && bytes > kMostBytes) break;
      InputProducts& made = products.try_emplace(at->second, columns).first->second;
      for (const uint32_t node : at->second) of_node[node].push_back(&made);
    }
    wanted.emplace_back(at->first, &products.at(at->second));
  }
  text_->run(kCalibrationTokens, [&](uint32_t node, const float* data, uint32_t rows, size_t stride) {
    const auto found = of_node.find(node);
    if (found == of_node.end()) return;
    for (InputProducts* of : found->second) of->add(data, rows, stride);
  });
  std::vector<ErrorFeedback> made(wanted.size());
  parallel(static_cast<uint32_t>(wanted.size()),
           [&](uint32_t i) { made[i] = make_error_feedback(*wanted[i].second); });
  for (size_t i = 0; i < wanted.size(); ++i) made_[wanted[i].first] = std::move(made[i]);
}

std::unique_ptr<const ErrorFeedback> Calibration::take(size_t weight) {
  if (inputs_.count(weight) == 0) return nullptr;
  if (made_.count(weight) == 0) run_from(weight);
  auto feedback = std::make_unique<ErrorFeedback>(std::move(made_.at(weight)));
  made_.erase(weight);
  return feedback;
}

}  // namespace mote::convert
