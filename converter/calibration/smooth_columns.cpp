// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smooth_columns.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "converter/calibration/encoder_run.h"
#include "converter/calibration/row_rounding.h"
#include "converter/calibration/smoothing_factors.h"
#include "converter/encode_weight.h"
#include "converter/quantizers/quantizer.h"

namespace mote::convert {
namespace {

constexpr float kSmallest = 1e-5f;  // magnitudes below count as this
constexpr long kAnyShift = 1024;    // floats have none as large
// Roundings by one scale for a row may cost products so much of their size, in the root mean square over the
// inputs of a model; less where its last rows then have a smaller mean cosine to those in f32.
constexpr double kMostRowError = 0.015;
constexpr double kLeastCosine = 0.999;

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

/// Returns the last probe of a row for each token; null where there is none.
const GraphProbe* last_rows(const Graph& graph) {
  const auto found = std::find_if(graph.probes.rbegin(), graph.probes.rend(), [&](const GraphProbe& probe) {
    return graph.values[probe.view.value].unit == Unit::token;
  });
  return found == graph.probes.rend() ? nullptr : &*found;
}

/// Returns the first program with the probe of its last rows alone.
Graph first_program(const Graph& graph) {
  Graph first = graph;
  first.probes.clear();
  if (const GraphProbe* last = last_rows(graph)) first.probes.push_back(*last);
  first.more_programs.clear();
  first.voice.reset();
  first.task = Task::none;  // it may need the other programs
  return first;
}

/// Returns the first program with all weights in f32 and nothing quantized. The values that the first weight
/// of an input reads are probed under that weight's name, and the last rows under theirs.
Graph in_f32(const Graph& graph, const Inputs& inputs) {
  Graph exact = first_program(graph);
  for (Weight& weight : exact.weights) weight.dtype = DType::f32;
  exact.nodes.clear();
  exact.probes.clear();
  const GraphProbe* const last = last_rows(graph);
  std::map<uint32_t, View> unquantized;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = graph.nodes[i];
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
    if (last != nullptr && last->node == i)
      exact.probes.push_back({last->name, static_cast<uint32_t>(exact.nodes.size() - 1), last->view});
  }
  return exact;
}

/// The last rows of a run, one after the other.
using Rows = std::vector<float>;

void append(Rows& rows, const float* data, uint32_t count, uint32_t width, size_t stride) {
  for (uint32_t row = 0; row < count; ++row)
    rows.insert(rows.end(), data + row * stride, data + row * stride + width);
}

/// Fills in what the inputs meet in the model in f32. Returns its last rows.
Rows meet(EncoderRun& encoder, const Graph& graph, Inputs& inputs,
          const std::function<void(double share)>& progress) {
  std::map<std::string, Input*> by_name;
  for (auto& [weights, input] : inputs) {
    by_name[graph.weights[static_cast<size_t>(weights.front())].name] = &input;
  }
  Rows last;
  encoder.run(
      in_f32(graph, inputs),
      [&](const char* name, const float* data, uint32_t rows, uint32_t width, size_t stride) {
        const auto found = by_name.find(name);
        if (found == by_name.end()) return append(last, data, rows, width, stride);
        for (uint32_t row = 0; row < rows; ++row) widen(found->second->largest, {data + row * stride, width});
        append(found->second->rows, data, rows, width, stride);
      },
      progress);
  return last;
}

/// Returns the mean cosine of the graph's last rows, [width] each, to those of the model in f32.
double cosine_to(const Rows& exact, EncoderRun& encoder, const Graph& graph) {
  const size_t width = last_rows(graph)->view.width;
  Rows rounded;
  encoder.run(
      first_program(graph),
      [&](const char*, const float* data, uint32_t rows, uint32_t of, size_t stride) {
        append(rounded, data, rows, of, stride);
      },
      [](double) {});
  double sum = 0;
  for (size_t row = 0; row < exact.size(); row += width) {
    double product = 0, of_exact = 0, of_rounded = 0;
    for (size_t k = row; k < row + width; ++k) {
      const double a = static_cast<double>(exact[k]), b = static_cast<double>(rounded.at(k));
      product += a * b;
      of_exact += a * a;
      of_rounded += b * b;
    }
    sum += product == 0 ? 1 : product / std::sqrt(of_exact * of_rounded);
  }
  return sum * static_cast<double>(width) / static_cast<double>(exact.size());
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

/// Gives an input and its weights a scale for each 32 columns, in the graph or in a copy of it.
void part_rows(Graph& graph, const std::vector<int32_t>& weights, const Input& input) {
  for (const int32_t index : weights) graph.weights[static_cast<size_t>(index)].dtype = DType::q8g32;
  for (const QuantizeNode* quantize : input.quantizations)
    graph.values[quantize->out.value].dtype = activation_dtype(DType::q8g32);
}

struct Loss {
  double of_rows, saved;  // squares; what scales for 32 columns save
  Inputs::const_iterator input;
};

/// Returns the losses of the inputs that have one scale for a row, those that would save most first.
std::vector<Loss> find_losses(const Graph& graph, const Inputs& inputs) {
  std::vector<Loss> losses;
  for (auto at = inputs.begin(); at != inputs.end(); ++at) {
    const std::vector<const Weight*> weights = rounded_by_rows(graph, at->first);
    if (weights.empty() || !is_finite(at->second)) continue;
    const auto square = [&](size_t group) {
      const double error = rounding_error(at->second.rows, weights, at->second.scales, group);
      return error * error;
    };
    const double of_rows = square(weights[0]->cols);
    losses.push_back({of_rows, of_rows - square(kGroupColumns), at});
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const Loss& a, const Loss& b) { return a.saved > b.saved; });
  return losses;
}

/// Returns how many of the losses to save, so that the mean of the squares of all is small enough.
size_t count_coarse(const std::vector<Loss>& losses) {
  double sum = 0;
  for (const Loss& loss : losses) sum += loss.of_rows;
  const double most = kMostRowError * kMostRowError * static_cast<double>(losses.size());
  size_t count = 0;
  for (; count < losses.size() && sum > most && losses[count].saved > 0; ++count) sum -= losses[count].saved;
  return count;
}

/// Parts the rows that lose most: as few as make the losses small enough and the last rows close enough to
/// those in f32, by bisection; all that lose anything where no number does.
void part_coarse_rows(Graph& graph, const std::vector<Loss>& losses, const Rows& exact, EncoderRun& encoder) {
  const auto part = [&](Graph& of, size_t count) {
    for (size_t i = 0; i < count; ++i) part_rows(of, losses[i].input->first, losses[i].input->second);
  };
  const auto suffices = [&](size_t count) {
    Graph parted = first_program(graph);
    part(parted, count);
    return cosine_to(exact, encoder, parted) >= kLeastCosine;
  };
  size_t count = count_coarse(losses);
  if (last_rows(graph) != nullptr && !suffices(count)) {
    size_t fails = count, holds = count;
    while (holds < losses.size() && losses[holds].saved > 0) ++holds;
    while (holds - fails > 1) {
      const size_t middle = fails + (holds - fails) / 2;
      (suffices(middle) ? holds : fails) = middle;
    }
    count = holds;
  }
  part(graph, count);
}

}  // namespace

void smooth_columns(Graph& graph, RowScales row_scales, const TokenizerTables* tokenizer,
                    const std::filesystem::path& target, const std::function<void(double share)>& progress) {
  if (!is_encoder(graph.output_kind)) return;
  Inputs inputs = find_inputs(graph);
  if (inputs.empty()) return;
  EncoderRun encoder(graph, tokenizer, target);
  const Rows exact = meet(encoder, graph, inputs, progress);
  for (auto& [weights, input] : inputs) {
    if (input.of_norm && is_finite(input)) input.scales = factors_of(graph, weights, input);
  }
  const std::vector<Loss> losses =
      row_scales == RowScales::where_they_suffice ? find_losses(graph, inputs) : std::vector<Loss>();
  for (const auto& [weights, input] : inputs) {
    if (!input.scales.empty()) smooth(graph, weights, input);
  }
  if (!losses.empty()) part_coarse_rows(graph, losses, exact, encoder);
}

}  // namespace mote::convert
