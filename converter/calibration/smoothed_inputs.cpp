// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smoothed_inputs.h"

#include <algorithm>
#include <map>

#include "converter/calibration/error_feedback.h"
#include "converter/encode_weight.h"

namespace mote::convert {
namespace {

bool is_same(const View& a, const View& b) {
  return a.value == b.value && a.column == b.column && a.width == b.width;
}

bool overlap(const View& a, const View& b) {
  return a.value == b.value && a.column < b.column + b.width && b.column < a.column + a.width;
}

bool contains(const View& outer, const View& inner) {
  return outer.value == inner.value && outer.column <= inner.column &&
         inner.column + inner.width <= outer.column + outer.width;
}

/// How many fields of nodes name each weight, and which of the first program's nodes touch each value.
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

class InputFinder {
 public:
  explicit InputFinder(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::vector<SmoothedInput> find() const {
    std::vector<SmoothedInput> found;
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      SmoothedInput input;
      if (const auto* norm = std::get_if<NormNode>(&graph_.nodes[i])) {
        if (takes_norm(i, *norm, input)) found.push_back(std::move(input));
      } else if (const auto* gate = std::get_if<GateNode>(&graph_.nodes[i])) {
        if (takes_gate(i, *gate, input)) found.push_back(std::move(input));
      }
    }
    return found;
  }

 private:
  bool takes_norm(uint32_t node, const NormNode& norm, SmoothedInput& input) const {
    if (norm.groups != 1 || norm.weight < 0 || norm.in.value == norm.out.value) return false;
    input.vectors = {norm.weight, norm.bias};
    input.columns = norm.out.width;
    for (const int32_t vector : input.vectors) {
      if (!is_own_vector(vector, norm.out.width)) return false;
    }
    return adds_readers(node, norm.out, input);
  }

  bool takes_gate(uint32_t node, const GateNode& gate, SmoothedInput& input) const {
    if (overlap(gate.gate, gate.up)) return false;
    input.columns = gate.out.width;
    if (!adds_readers(node, gate.out, input)) return false;
    const bool coarse = std::any_of(input.readers.begin(), input.readers.end(), [&](size_t reader) {
      return takes_error_feedback(graph_.weights[reader].dtype);
    });
    return !coarse && adds_maker(node, gate.up, gate.out, input);
  }

  /// Says whether only this node's operand needs the vector, if there is one, and as it is.
  bool is_own_vector(int32_t vector, uint32_t width) const {
    if (vector < 0) return true;
    const auto index = static_cast<size_t>(vector);
    return uses_.weights[index] == 1 && graph_.weights[index].values.size() == width;
  }

  /// Says whether after `node` only quantizations read `out`, of which only matrices read.
  bool adds_readers(uint32_t node, const View& out, SmoothedInput& input) const {
    if (graph_.values[out.value].unit != Unit::token || graph_.output.value == out.value) return false;
    for (const uint32_t other : uses_.nodes.at(out.value)) {
      if (other > node && touches(other, out) && !adds_quantization(other, out, input)) return false;
    }
    return !input.readers.empty();
  }

  bool touches(uint32_t node, const View& view) const {
    const std::vector<View> views = views_of(graph_.nodes[node]);
    return std::any_of(views.begin(), views.end(), [&](const View& other) { return overlap(other, view); });
  }

  bool adds_quantization(uint32_t node, const View& of, SmoothedInput& input) const {
    const auto* quantize = std::get_if<QuantizeNode>(&graph_.nodes[node]);
    if (quantize == nullptr || quantize->columns != -1 || !is_same(quantize->in, of)) return false;
    input.quantizations.insert(node);
    for (const uint32_t reader : uses_.nodes.at(quantize->out.value)) {
      if (reader == node) continue;
      const auto* linear = std::get_if<LinearNode>(&graph_.nodes[reader]);
      if (linear == nullptr || !is_own_matrix(linear->weight)) return false;
      const auto index = static_cast<size_t>(linear->weight);
      if (graph_.weights[index].cols != of.width) return false;
      input.readers.insert(index);
    }
    return true;
  }

  bool is_own_matrix(int32_t weight) const {
    const auto index = static_cast<size_t>(weight);
    return uses_.weights[index] == 1 && !has_exact_part(graph_.weights[index]);
  }

  /// Says whether a linear alone makes `made`: no other node touches `made` before `node`, nor after `node`
  /// apart from `out`.
  bool adds_maker(uint32_t node, const View& made, const View& out, SmoothedInput& input) const {
    const LinearNode* maker = nullptr;
    for (const uint32_t other : uses_.nodes.at(made.value)) {
      if (other == node || !touches(other, made)) continue;
      const auto* linear = std::get_if<LinearNode>(&graph_.nodes[other]);
      if (other > node && touches(other, out)) continue;
      if (other > node || maker != nullptr || linear == nullptr || !contains(linear->out, made)) return false;
      maker = linear;
    }
    if (maker == nullptr || maker->activation != Activation::none || maker->residual ||
        !is_own_matrix(maker->weight) || !is_own_vector(maker->bias, maker->out.width))
      return false;
    input.matrix = maker->weight;
    input.vectors = {maker->bias};
    input.first = made.column - maker->out.column;
    return graph_.weights[static_cast<size_t>(maker->weight)].rows == maker->out.width;
  }

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace

std::vector<SmoothedInput> find_smoothed_inputs(const Graph& graph) { return InputFinder(graph).find(); }

}  // namespace mote::convert
