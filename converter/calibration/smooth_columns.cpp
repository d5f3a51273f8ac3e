// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smooth_columns.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "converter/calibration/row_rounding.h"
#include "converter/calibration/smoothing_factors.h"
#include "converter/encode_weight.h"
#include "converter/quantizers/quantizer.h"
#include "converter/self_test.h"
#include "converter/write_model.h"
#include "host/base/output_file.h"

namespace mote::convert {
namespace {

constexpr float kSmallest = 1e-5f;     // magnitudes below count as this
constexpr long kAnyShift = 1024;       // floats have none as large
constexpr double kEncodedShare = 0.5;  // share of the work; the rest is the run
// Roundings by one scale for a row may cost products so much of their size, in the root mean square over the
// inputs of a model: its outputs then have a cosine of .999 to those in f32 (docs/quantization.md).
constexpr double kMostRowError = 0.015;

/// Gives each column of `largest` the larger magnitude; a NaN stays.
void widen(std::vector<float>& largest, std::span<const float> row) {
  largest.resize(row.size());
  for (size_t k = 0; k < row.size(); ++k) {
    const float magnitude = std::fabs(row[k]);
    if (magnitude > largest[k] || std::isnan(magnitude)) largest[k] = magnitude;
  }
}

/// Quantizations that the same weights read: one, or those of the layers that share their weights.
struct Input {
  std::vector<QuantizeNode*> quantizations;
  bool of_norm = false;        // at least one; ALBERT's first layer reads the embedding's projection
  std::vector<float> largest;  // of each column's activations
  std::vector<float> rows;     // the activations
  std::vector<float> scales;   // of the columns; none where they are not smoothed
};
using Inputs = std::map<std::vector<int32_t>, Input>;  // by the weights

std::vector<int32_t> readers_of(const Graph& graph, const QuantizeNode& quantize) {
  std::vector<int32_t> weights;
  for (const Node& node : graph.nodes) {
    const auto* linear = std::get_if<LinearNode>(&node);
    if (linear != nullptr && linear->in.value == quantize.out.value) weights.push_back(linear->weight);
  }
  return weights;
}

/// Says whether a norm was the last to touch the value that node `index` reads.
bool reads_norm(const Graph& graph, size_t index) {
  const uint32_t value = std::get<QuantizeNode>(graph.nodes[index]).in.value;
  while (index-- > 0) {
    for (const View& view : views_of(graph.nodes[index])) {
      if (view.value == value) return std::holds_alternative<NormNode>(graph.nodes[index]);
    }
  }
  return false;
}

/// Says whether so many linears read the weight, and nothing else does.
bool has_readers(const Graph& graph, int32_t weight, size_t readers) {
  size_t linears = 0;
  for (const Node& node : graph.nodes) {
    const auto* embed = std::get_if<EmbedNode>(&node);
    const auto* linear = std::get_if<LinearNode>(&node);
    if (embed != nullptr && embed->table == weight) return false;
    linears += linear != nullptr && linear->weight == weight;
  }
  return linears == readers;
}

/// Says whether the weights are this input's alone.
bool owns(const Graph& graph, const std::vector<int32_t>& weights, const Input& input) {
  return !weights.empty() && std::all_of(weights.begin(), weights.end(), [&](int32_t weight) {
    return has_readers(graph, weight, input.quantizations.size());
  });
}

Inputs find_inputs(Graph& graph) {
  Inputs inputs;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    auto* quantize = std::get_if<QuantizeNode>(&graph.nodes[i]);
    if (quantize == nullptr || graph.values[quantize->in.value].unit != Unit::token) continue;
    Input& input = inputs[readers_of(graph, *quantize)];
    input.quantizations.push_back(quantize);
    input.of_norm = input.of_norm || reads_norm(graph, i);
  }
  std::erase_if(inputs, [&](const auto& item) { return !owns(graph, item.first, item.second); });
  return inputs;
}

/// The graph with all weights in f32 and nothing quantized. The values that the first weight of an input
/// reads are probed under that weight's name.
Graph in_f32(const Graph& graph, const Inputs& inputs) {
  Graph exact = graph;
  for (Weight& weight : exact.weights) weight.dtype = DType::f32;
  exact.nodes.clear();
  exact.probes.clear();
  exact.more_programs.clear();  // the first is run
  exact.voice.reset();
  std::map<uint32_t, View> unquantized;
  for (Node node : graph.nodes) {
    if (const auto* quantize = std::get_if<QuantizeNode>(&node)) {
      unquantized[quantize->out.value] = quantize->in;
      continue;
    }
    auto* linear = std::get_if<LinearNode>(&node);
    if (linear != nullptr && unquantized.count(linear->in.value) != 0) {
      linear->in = unquantized.at(linear->in.value);
      for (const auto& [weights, input] : inputs) {
        if (weights.front() != linear->weight) continue;
        const std::string& name = graph.weights[static_cast<size_t>(linear->weight)].name;
        exact.probes.push_back({name, static_cast<uint32_t>(exact.nodes.size()), linear->in});
      }
    }
    exact.nodes.push_back(std::move(node));
  }
  return exact;
}

void run(const Graph& graph, const std::filesystem::path& target, Inputs& inputs,
         const std::function<void(double share)>& progress) {
  const Graph exact = in_f32(graph, inputs);
  OutputFile file(target);
  write_model(exact, nullptr, file, [&](double share) { progress(kEncodedShare * share); });
  std::map<std::string, Input*> by_name;
  for (auto& [weights, input] : inputs) {
    by_name[graph.weights[static_cast<size_t>(weights.front())].name] = &input;
  }
  const auto take = [](void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                       size_t stride) {
    Input& input = *static_cast<std::map<std::string, Input*>*>(user)->find(name)->second;
    for (uint32_t row = 0; row < rows; ++row) {
      widen(input.largest, {data + row * stride, width});
      input.rows.insert(input.rows.end(), data + row * stride, data + row * stride + width);
    }
  };
  OpenedModel(file.temporary()).trace(plan_self_test(exact), take, &by_name);
}

bool is_finite(const Input& input) {
  return std::all_of(input.largest.begin(), input.largest.end(), [](float a) { return std::isfinite(a); });
}

/// Returns the factors of the columns; none where a scaled weight would be too large for its type.
std::vector<float> factors_of(const Graph& graph, const std::vector<int32_t>& weights, const Input& input) {
  std::vector<float> largest;
  float limit = INFINITY;
  for (const int32_t index : weights) {
    const Weight& weight = graph.weights[static_cast<size_t>(index)];
    widen(largest, column_magnitudes(weight));
    limit = std::min({limit, quantizer(weight.dtype).largest, quantizer(DType::q8g32).largest});
  }
  const std::vector<float> scales = smoothing_factors({input.largest.begin(), input.largest.end()},
                                                      {largest.begin(), largest.end()}, kSmallest, kAnyShift);
  for (size_t k = 0; k < scales.size(); ++k) {
    if (largest[k] * scales[k] > limit) return {};
  }
  return scales;
}

void smooth(Graph& graph, const std::vector<int32_t>& weights, const Input& input) {
  std::vector<float> inverses;
  for (const float scale : input.scales) inverses.push_back(1.0f / scale);
  for (const int32_t index : weights) graph.weights[static_cast<size_t>(index)].column_scales = input.scales;
  for (QuantizeNode* quantize : input.quantizations) {
    quantize->columns = static_cast<int32_t>(graph.weights.size());
  }
  const std::string name = graph.weights[static_cast<size_t>(weights.front())].name + ".columns";
  const auto width = static_cast<uint32_t>(inverses.size());
  graph.weights.push_back({name, DType::f32, true, 1, width, {}, std::move(inverses)});
}

/// The weights, if a scale for a row is what the file has of them; else none.
std::vector<const Weight*> rounded_by_rows(const Graph& graph, const std::vector<int32_t>& weights) {
  std::vector<const Weight*> read;
  for (const int32_t index : weights) {
    read.push_back(&graph.weights[static_cast<size_t>(index)]);
    if (read.back()->dtype != DType::q8c || has_exact_part(*read.back())) return {};
  }
  return read;
}

/// Gives an input and its weights a scale for each 32 columns.
void part_rows(Graph& graph, const std::vector<int32_t>& weights, const Input& input) {
  for (const int32_t index : weights) graph.weights[static_cast<size_t>(index)].dtype = DType::q8g32;
  for (const QuantizeNode* quantize : input.quantizations)
    graph.values[quantize->out.value].dtype = activation_dtype(DType::q8g32);
}

/// Parts the rows that lose most, until the mean of the squares of all losses is small enough.
void part_coarse_rows(Graph& graph, const Inputs& inputs) {
  struct Loss {
    double saved;  // of the square, by scales for 32 columns
    Inputs::const_iterator input;
  };
  std::vector<Loss> losses;
  double sum = 0;
  for (auto at = inputs.begin(); at != inputs.end(); ++at) {
    const std::vector<const Weight*> weights = rounded_by_rows(graph, at->first);
    if (weights.empty() || !is_finite(at->second)) continue;
    const auto square = [&](size_t group) {
      const double error = rounding_error(at->second.rows, weights, at->second.scales, group);
      return error * error;
    };
    const double of_rows = square(weights[0]->cols);
    losses.push_back({of_rows - square(kGroupColumns), at});
    sum += of_rows;
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const Loss& a, const Loss& b) { return a.saved > b.saved; });
  const double most = kMostRowError * kMostRowError * static_cast<double>(losses.size());
  for (size_t i = 0; i < losses.size() && sum > most && losses[i].saved > 0; ++i) {
    part_rows(graph, losses[i].input->first, losses[i].input->second);
    sum -= losses[i].saved;
  }
}

}  // namespace

void smooth_columns(Graph& graph, RowScales row_scales, const std::filesystem::path& target,
                    const std::function<void(double share)>& progress) {
  if (!is_encoder(graph.output_kind)) return;
  Inputs inputs = find_inputs(graph);
  if (inputs.empty()) return;
  run(graph, target, inputs, progress);
  for (auto& [weights, input] : inputs) {
    if (input.of_norm && is_finite(input)) input.scales = factors_of(graph, weights, input);
  }
  if (row_scales == RowScales::where_they_suffice) part_coarse_rows(graph, inputs);
  for (const auto& [weights, input] : inputs) {
    if (!input.scales.empty()) smooth(graph, weights, input);
  }
}

}  // namespace mote::convert
