// SPDX-License-Identifier: Apache-2.0
//
// Walks the tree of a template and writes its text.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "host/chat/jinja/template.h"
#include "host/chat/jinja/tree.h"

namespace mote::convert::jinja {

/// The variables of a scope that is being rendered.
struct Frame {
  std::shared_ptr<Frame> outer;
  std::vector<Value> slots;
};

class Renderer {
 public:
  Renderer(const std::vector<std::pair<std::string, Value>>& variables, const Time& now, const Limits& limits)
      : variables_(variables), now_(now), limits_(limits) {}

  std::string run(const Node& program);

  /// Counts work; Unsupported beyond the limit.
  void charge(uint64_t steps);
  /// For an operation that reads a value whole, and for one that makes it or reads its items alone.
  void charge_whole(const Value& value) { charge(extent_of(value).weight); }
  void charge_items(const Value& value);
  Value call(const Value& callee, const Arguments& arguments);

 private:
  enum class Flow : uint8_t { next, break_, continue_ };
  using FrameRef = std::shared_ptr<Frame>;

  /// Counts nested calls.
  struct Nested {
    explicit Nested(Renderer& renderer);
    ~Nested() { --renderer.nested_; }
    Renderer& renderer;
  };

  // ---- Statements ----
  Flow execute_all(const std::vector<NodeRef>& nodes, const FrameRef& frame);
  Flow execute(const Node& node, const FrameRef& frame);
  Flow execute_if(const Node& node, const FrameRef& frame);
  Flow execute_for(const Node& node, const FrameRef& frame);
  Flow execute_block(const Node& node, const FrameRef& frame);
  void execute_call_block(const Node& node, const FrameRef& frame);
  void assign(const Node& target, const Value& value, const FrameRef& frame);
  void write(const std::string& text);
  /// Returns the text that statements write, and keeps it out of the output.
  std::string captured(const std::vector<NodeRef>& nodes, const FrameRef& frame, Flow* flow);

  // ---- Variables ----
  FrameRef enter(const Scope& scope, const FrameRef& outer);
  static Value& variable(const FrameRef& frame, Place place);
  Value resolve(const std::string& name);

  // ---- Expressions ----
  Value evaluate(const Node& node, const FrameRef& frame);
  Value evaluate_compound(const Node& node, const FrameRef& frame);
  Value evaluate_comparison(const Node& node, const FrameRef& frame);
  Value evaluate_concat(const Node& node, const FrameRef& frame);
  Value evaluate_slice(const Node& node, const FrameRef& frame);
  Value apply_filter(const Node& node, const Value& value, const FrameRef& frame);
  std::vector<Value> evaluate_all(const std::vector<NodeRef>& nodes, const FrameRef& frame);
  Arguments evaluate_arguments(const CallArguments& arguments, const FrameRef& frame);

  // ---- Calls ----
  Value call_macro(const Macro& macro, const Arguments& arguments);
  Value call_function(const Function& function, const Arguments& arguments);
  Value make_namespace(const Arguments& arguments);

  const std::vector<std::pair<std::string, Value>>& variables_;
  const Time& now_;
  const Limits limits_;
  uint32_t nested_ = 0;
  std::string out_;
  std::deque<Space> spaces_;
};

}  // namespace mote::convert::jinja
