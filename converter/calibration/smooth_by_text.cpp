// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smooth_by_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "converter/calibration/smoothing_factors.h"
#include "converter/encode_weight.h"

namespace mote::convert {
namespace {

constexpr uint32_t kTokens = 2048;
constexpr double kLeastRoot = 1e-9;
constexpr long kMostShift = 6;  // of a factor 2^shift

/// Root mean squares, but for a factor that all columns share.
std::vector<double> roots_of(std::vector<double> squares) {
  for (double& sum : squares) sum = std::sqrt(sum);
  return squares;
}

/// s, as in the header. `squares`: sums over the activations' columns.
std::vector<float> factors_of(const Graph& graph, const SmoothedInput& input,
                              const std::vector<double>& squares) {
  std::vector<double> of_weights(input.columns);
  for (const size_t index : input.readers) {
    const std::vector<double> of_weight = column_squares(graph.weights[index]);
    for (size_t k = 0; k < of_weights.size(); ++k) of_weights[k] += of_weight[k];
  }
  return smoothing_factors(roots_of(squares), roots_of(of_weights), kLeastRoot, kMostShift);
}

void scale_by(const SmoothedInput& input, const std::vector<float>& factors, Graph& graph) {
  for (const size_t index : input.readers) graph.weights[index].column_scales = factors;
  for (const int32_t index : input.vectors) {
    if (index < 0) continue;
    std::vector<float>& values = graph.weights[static_cast<size_t>(index)].values;
    for (size_t k = 0; k < factors.size(); ++k) values[input.first + k] /= factors[k];
  }
  if (input.matrix < 0) return;
  Weight& matrix = graph.weights[static_cast<size_t>(input.matrix)];
  matrix.row_scales.resize(matrix.rows, 1.0f);
  for (size_t k = 0; k < factors.size(); ++k) matrix.row_scales[input.first + k] /= factors[k];
}

}  // namespace

size_t smooth_by_text(Graph& graph, TextRun& text) {
  const std::vector<SmoothedInput> inputs = find_smoothed_inputs(graph);
  if (inputs.empty()) return 0;
  std::vector<std::vector<double>> squares;
  std::map<uint32_t, size_t> of_node;  // one quantization of each
  for (const SmoothedInput& input : inputs) {
    of_node[*input.quantizations.begin()] = squares.size();
    squares.emplace_back(input.columns);
  }
  text.run(kTokens, [&](uint32_t node, const float* data, uint32_t rows, size_t stride) {
    const auto found = of_node.find(node);
    if (found == of_node.end()) return;
    std::vector<double>& sums = squares[found->second];
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t k = 0; k < sums.size(); ++k) {
        const double value = static_cast<double>(data[row * stride + k]);
        sums[k] += value * value;
      }
    }
  });
  size_t smoothed = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!std::all_of(squares[i].begin(), squares[i].end(), [](double sum) { return std::isfinite(sum); }))
      continue;
    scale_by(inputs[i], factors_of(graph, inputs[i], squares[i]), graph);
    ++smoothed;
  }
  return smoothed;
}

}  // namespace mote::convert
