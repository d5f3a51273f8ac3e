// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/text_run.h"

#include <algorithm>
#include <optional>

#include "converter/calibration/error_feedback.h"
#include "converter/self_test.h"
#include "converter/write_model.h"
#include "host/base/arena_memory.h"
#include "host/base/error.h"
#include "host/base/output_file.h"

namespace mote::convert {
namespace {

constexpr uint32_t kTextWindow = 512;
constexpr uint32_t kTokensAtOnce = 256;

/// The graph with its coarser matrices in 8 bits. The values that node n quantizes are the probe "n".
Graph in_8_bits(const Graph& graph) {
  Graph run = graph;
  for (Weight& weight : run.weights) {
    if (takes_error_feedback(weight.dtype)) weight.dtype = DType::q8g32;
  }
  run.probes.clear();
  for (size_t i = 0; i < run.nodes.size(); ++i) {
    const auto* quantize = std::get_if<QuantizeNode>(&run.nodes[i]);
    if (quantize == nullptr || run.values[quantize->in.value].unit != Unit::token) continue;
    run.probes.push_back({std::to_string(i), static_cast<uint32_t>(i), quantize->in});
  }
  return run;
}

void require_ok(mote_status status, const mote_error& error, const char* what) {
  if (status != MOTE_OK) fail("--calibrate: cannot {}: {}", what, error.text);
}

void hand_on(void* user, const char* name, const float* data, uint32_t rows, uint32_t, size_t stride) {
  const auto& take = **static_cast<const TextRun::Take**>(user);
  take(static_cast<uint32_t>(std::strtoul(name, nullptr, 10)), data, rows, stride);
}

}  // namespace

struct TextRun::Model {
  Model(const Graph& graph, const TokenizerTables& tokenizer, const std::filesystem::path& target,
        const Progress& progress)
      : file(target) {
    write_model(in_8_bits(graph), &tokenizer, file, progress);
    opened.emplace(file.temporary());
    mote_session_options options = mote_session_options_default(opened->get());
    options.context = std::min(kTextWindow, graph.context);
    options.chunk = std::min(kTokensAtOnce, options.context);
    options.logit_rows = 1;
    options.trace = hand_on;
    options.trace_user = &take;
    const size_t bytes = mote_session_bytes(opened->get(), &options);
    arena = arena_memory(bytes);
    mote_error error{};
    require_ok(mote_session_init(opened->get(), &options, arena.get(), bytes, &session, &error), error,
               "set up the model of 8 bits");
  }

  std::vector<int32_t> tokenize(const std::string& text, uint32_t flags) {
    std::vector<int32_t> ids(text.size() + 16);
    uint32_t count = 0;
    mote_error error{};
    require_ok(mote_tokenize(session, text.data(), text.size(), flags, ids.data(),
                             static_cast<uint32_t>(ids.size()), &count, nullptr, &error),
               error, "read the text");
    ids.resize(std::min<size_t>(count, ids.size()));
    return ids;
  }

  void prefill(const std::vector<int32_t>& ids) {
    mote_error error{};
    require_ok(mote_session_truncate(session, 0, 0, &error), error, "begin a window");
    const auto count = static_cast<uint32_t>(ids.size());
    require_ok(mote_prefill(session, 0, ids.data(), count, MOTE_LOGITS_NONE, &error), error, "run the model");
  }

  OutputFile file;
  const Take* take = nullptr;
  std::optional<OpenedModel> opened;
  ArenaMemory arena;
  mote_session* session = nullptr;
};

TextRun::TextRun(const Graph& graph, const TokenizerTables& tokenizer, const std::string& text,
                 const std::filesystem::path& target, const Progress& progress)
    : model_(std::make_unique<Model>(graph, tokenizer, target, progress)),
      ids_(model_->tokenize(text, 0)),
      start_(model_->tokenize("", MOTE_ADD_SPECIAL)),
      window_(std::min(kTextWindow, graph.context)) {
  if (ids_.size() < 2) fail("--calibrate: the text has {} tokens, it takes at least 2", ids_.size());
  ids_.resize(std::min<size_t>(ids_.size(), kCalibrationTokens));
  // Two tokens enclose a text; a decoder's prompt begins with one or none.
  if (start_.size() > 1 || window_ < 2) start_.clear();
}

TextRun::~TextRun() = default;

void TextRun::run(uint32_t tokens, const Take& take) {
  model_->take = &take;
  const size_t count = std::min<size_t>(tokens, ids_.size()), step = window_ - start_.size();
  for (size_t begin = 0; begin < count; begin += step) {
    std::vector<int32_t> ids = start_;
    const auto from = ids_.begin() + static_cast<ptrdiff_t>(begin);
    ids.insert(ids.end(), from, from + static_cast<ptrdiff_t>(std::min(step, count - begin)));
    model_->prefill(ids);
  }
}

}  // namespace mote::convert
