// SPDX-License-Identifier: Apache-2.0
//
// A graph followed once, for inputs of small sizes. Where a value follows from shapes, ids and masks it is a
// number, and operators compute with it. A value that depends on weights or on the rows of a model stays a
// reference: element `index` of an *atom*, the output of an operator that computes, or a weight. Operators
// that only move elements (Reshape, Transpose, Gather, Concat, Split, Where with a known condition) move
// references. So whatever an exporter's way of writing heads, masks or positions, what is left says exactly
// which element goes where.
#pragma once

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "converter/onnx/onnx_file.h"
#include "host/base/error.h"

namespace mote::convert {

struct TracedElement {
  int32_t atom = -1;  // below 0: a number
  uint32_t bits = 0;  // of the number, or the index

  static TracedElement of(float number) { return {-1, std::bit_cast<uint32_t>(number)}; }
  bool is_number() const { return atom < 0; }
  float number() const { return std::bit_cast<float>(bits); }
  bool operator==(const TracedElement&) const = default;
};

enum class TracedKind { integer, boolean, real };

struct TracedTensor {
  TracedKind kind = TracedKind::real;
  std::vector<uint64_t> dims = {};
  int32_t whole = -1;       // the atom that this is, in order, or below 0
  bool transposed = false;  // it is a matrix and this its transpose
  std::vector<TracedElement> elements = {};

  uint64_t size() const;
  TracedElement at(uint64_t index) const;
  std::vector<TracedElement> all() const;
  bool is_numbers() const;
};
using Traced = std::shared_ptr<const TracedTensor>;

struct TracedAtom {
  const OnnxNode* node = nullptr;   // null: a weight, or an input of rows
  uint32_t output = 0;              // of the node
  std::vector<Traced> inputs = {};  // of the node; null where one is left out
  std::vector<uint64_t> dims = {};
  const OnnxTensor* weight = nullptr;      // the initializer
  Traced scale = nullptr, zero = nullptr;  // of a weight that DequantizeLinear reads
  int64_t axis = 1;                        // of its scales, where they are more than one
};

struct OnnxTrace {
  std::string where;  // the file, for messages
  const OnnxGraph* graph = nullptr;
  std::vector<TracedAtom> atoms;
  std::map<std::string, Traced> values;
  bool rounds = false;  // activations are rounded in the graph, which mote does in its own way

  /// The atom that the tensor is as a whole, in order, whatever its shape; null for another.
  const TracedAtom* atom(const Traced& tensor) const;
  /// A number, or a float of a weight.
  std::optional<float> number(TracedElement element) const;
  /// The one number that a tensor holds.
  std::optional<float> scalar(const Traced& tensor) const;
};

/// `inputs` by name; a graph's input that has none is refused. Throws Error, naming the operator and the
/// node.
OnnxTrace trace_onnx(const OnnxGraph& graph, const std::string& where, std::map<std::string, Traced> inputs);

/// "model.onnx: node /a/b (Add)"
std::string describe_node(const std::string& where, const OnnxNode& node);

// ---- For the operators' files. ----

/// A node while it is followed.
struct OnnxStep {
  OnnxTrace& trace;
  const OnnxNode& node;
  std::vector<Traced> inputs;
  uint64_t& budget;  // elements that may still be made

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}", describe_node(trace.where, node), fmt::format(format, std::forward<Args>(args)...));
  }

  const Traced& input(size_t index) const;  // refuses where it is not given
  bool has(size_t index) const { return index < inputs.size() && inputs[index] != nullptr; }
  /// Whole numbers of an input, or of the attribute where the operator's older form has one.
  std::vector<int64_t> integers(size_t index, const std::string& attribute = "") const;
  int64_t axis(int64_t value, size_t rank) const;  // 0 to rank - 1

  /// A tensor of these elements, refused where they are not as many as the shape says; one atom in order
  /// becomes whole.
  Traced make(TracedKind kind, std::vector<uint64_t> dims, std::vector<TracedElement> elements) const;
  /// Elements for `dims`, within the budget.
  std::vector<TracedElement> reserve(const std::vector<uint64_t>& dims) const;
  /// A new atom, this node's output `output`.
  Traced opaque(std::vector<uint64_t> dims, uint32_t output = 0, TracedKind kind = TracedKind::real) const;
};

/// Compute the operators that a file knows; false for another.
bool move_elements(const OnnxStep& step, std::vector<Traced>& outputs);
bool compute_elements(const OnnxStep& step, std::vector<Traced>& outputs);
bool keep_opaque(const OnnxStep& step, std::vector<Traced>& outputs);
Traced gather_elements(const OnnxStep& step);
Traced scatter_rows(const OnnxStep& step);

/// Makes a tensor of these whole numbers; there are as many as `dims` say.
Traced known_numbers(const std::vector<uint64_t>& dims, const std::vector<float>& numbers);

/// The shape to which both are broadcast.
std::vector<uint64_t> broadcast(const OnnxStep& step, const std::vector<uint64_t>& a,
                                const std::vector<uint64_t>& b);
/// The element of a tensor of `dims` that broadcasting puts at `index` of `to`.
uint64_t broadcast_index(uint64_t index, const std::vector<uint64_t>& to, const std::vector<uint64_t>& dims);

}  // namespace mote::convert
