// SPDX-License-Identifier: Apache-2.0
#include "converter/smooth_norms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "converter/encode_weight.h"

namespace mote::convert {
namespace {

constexpr uint32_t kTokens = 2048;
constexpr double kLeastRoot = 1e-9;
constexpr long kMostShift = 6;  // of a factor 2^shift

/// A norm, the nodes that quantize it and the matrices behind these.
struct SmoothedNorm {
  size_t node;
  std::set<uint32_t> quantizations;
  std::set<size_t> weights;
  std::vector<double> squares;  // sums of the activations' columns
};

/// How many fields of nodes name each weight, and which nodes touch each value.
struct Uses {
  std::vector<size_t> weights;
  std::map<uint32_t, std::set<uint32_t>> nodes;

  explicit Uses(const Graph& graph) : weights(graph.weights.size()) {
    add(graph);
    for (const ProgramGraph& program : graph.more_programs) add(program);
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const View& view : views_of(graph.nodes[i])) nodes[view.value].insert(i);
    }
  }

 private:
  void add(const ProgramGraph& program) {
    for (const Node& node : program.nodes)
      std::visit(
          [&](const auto& of_kind) { of_kind.fields([&](const auto&... field) { (count(field), ...); }); },
          node);
  }
  /// Fields of this type that are no weights make a weight look used more often, which leaves it alone.
  void count(const int32_t& field) {
    if (field >= 0 && static_cast<size_t>(field) < weights.size()) ++weights[static_cast<size_t>(field)];
  }
  template <class Other>
  void count(const Other&) {}
};

bool adds_quantization(const Graph& graph, const Uses& uses, uint32_t node, const View& of,
                       SmoothedNorm& norm) {
  const auto* quantize = std::get_if<QuantizeNode>(&graph.nodes[node]);
  if (quantize == nullptr || quantize->columns != -1 || quantize->in.column != of.column ||
      quantize->in.width != of.width)
    return false;
  norm.quantizations.insert(node);
  for (const uint32_t reader : uses.nodes.at(quantize->out.value)) {
    if (reader == node) continue;
    const auto* linear = std::get_if<LinearNode>(&graph.nodes[reader]);
    if (linear == nullptr) return false;
    const auto index = static_cast<size_t>(linear->weight);
    const Weight& weight = graph.weights[index];
    if (uses.weights[index] != 1 || weight.cols != of.width || has_exact_part(weight)) return false;
    norm.weights.insert(index);
  }
  return true;
}

std::vector<SmoothedNorm> find_norms(const Graph& graph) {
  const Uses uses(graph);
  std::vector<SmoothedNorm> norms;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* norm = std::get_if<NormNode>(&graph.nodes[i]);
    if (norm == nullptr || norm->groups != 1 || norm->weight < 0 || norm->in.value == norm->out.value ||
        graph.values[norm->out.value].unit != Unit::token || graph.output.value == norm->out.value)
      continue;
    const auto is_own = [&](int32_t weight) {
      return weight < 0 || (uses.weights[static_cast<size_t>(weight)] == 1 &&
                            graph.weights[static_cast<size_t>(weight)].values.size() == norm->out.width);
    };
    SmoothedNorm found{i, {}, {}, std::vector<double>(norm->out.width)};
    bool smooths = is_own(norm->weight) && is_own(norm->bias);
    for (const uint32_t node : uses.nodes.at(norm->out.value))
      smooths = smooths && (node == i || adds_quantization(graph, uses, node, norm->out, found));
    if (smooths && !found.weights.empty()) norms.push_back(std::move(found));
  }
  return norms;
}

/// s, as in the header.
std::vector<float> factors_of(const Graph& graph, const SmoothedNorm& norm) {
  std::vector<double> squares(norm.squares.size());
  for (const size_t index : norm.weights) {
    const std::vector<double> of_weight = column_squares(graph.weights[index]);
    for (size_t k = 0; k < squares.size(); ++k) squares[k] += of_weight[k];
  }
  std::vector<double> exponents;
  for (size_t k = 0; k < squares.size(); ++k) {
    const double ratio =
        std::max(std::sqrt(norm.squares[k]), kLeastRoot) / std::max(std::sqrt(squares[k]), kLeastRoot);
    exponents.push_back(std::log2(ratio) / 2);
  }
  const double mean =
      std::accumulate(exponents.begin(), exponents.end(), 0.0) / static_cast<double>(exponents.size());
  std::vector<float> factors;
  for (const double exponent : exponents)
    factors.push_back(std::ldexp(
        1.0f, static_cast<int>(std::clamp(std::lround(exponent - mean), -kMostShift, kMostShift))));
  return factors;
}

void smooth_norm(Graph& graph, const SmoothedNorm& norm) {
  if (!std::all_of(norm.squares.begin(), norm.squares.end(), [](double sum) { return std::isfinite(sum); }))
    return;
  const std::vector<float> factors = factors_of(graph, norm);
  for (const size_t index : norm.weights) graph.weights[index].column_scales = factors;
  const auto& node = std::get<NormNode>(graph.nodes[norm.node]);
  for (const int32_t index : {node.weight, node.bias}) {
    if (index < 0) continue;
    std::vector<float>& values = graph.weights[static_cast<size_t>(index)].values;
    for (size_t k = 0; k < values.size(); ++k) values[k] /= factors[k];
  }
}

}  // namespace

size_t smooth_norms(Graph& graph, TextRun& text) {
  std::vector<SmoothedNorm> norms = find_norms(graph);
  std::map<uint32_t, SmoothedNorm*> of_node;  // one quantization of each
  for (SmoothedNorm& norm : norms) of_node[*norm.quantizations.begin()] = &norm;
  if (norms.empty()) return 0;
  text.run(kTokens, [&](uint32_t node, const float* data, uint32_t rows, size_t stride) {
    const auto found = of_node.find(node);
    if (found == of_node.end()) return;
    std::vector<double>& squares = found->second->squares;
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t k = 0; k < squares.size(); ++k) {
        const double value = static_cast<double>(data[row * stride + k]);
        squares[k] += value * value;
      }
    }
  });
  for (const SmoothedNorm& norm : norms) smooth_norm(graph, norm);
  return norms.size();
}

}  // namespace mote::convert
