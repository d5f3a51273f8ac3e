// SPDX-License-Identifier: Apache-2.0
//
// The renderer's statements and variables.
#include "host/base/work_budget.h"
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/loop.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {
namespace {

/// Calls inside calls, so that a template's recursion ends before the stack does.
constexpr uint32_t kMostNested = 600;

}  // namespace

Renderer::Nested::Nested(Renderer& outer) : renderer(outer) {
  renderer.charge(1);
  if (++renderer.nested_ > kMostNested) {
    --renderer.nested_;
    unsupported("a template that calls itself deeper than {} steps", kMostNested);
  }
}

void Renderer::charge(uint64_t steps) { charge_work(steps); }

void Renderer::charge_items(const Value& value) {
  if (const Text* text = value.text()) charge(text->bytes.size() / kTextStep);
  if (const Sequence* sequence = value.sequence()) charge(sequence->items.size());
  if (const Dict* dict = value.dict()) charge(dict->items.size());
}

void Renderer::write(const std::string& text) {
  charge(text.size() / kTextStep);
  out_ += text;
  require_bytes(out_.size());
}

std::string Renderer::run(const Node& program) {
  const WorkBudget budget("a template", 0, 0, limits_.steps);
  try {
    const FrameRef frame = enter(program.scopes[0], nullptr);
    execute_all(program.body, frame);
  } catch (const WorkExceeded&) {
    unsupported("a template that takes more than {} steps", limits_.steps);
  }
  return std::move(out_);
}

// ---- Variables ----

Value& Renderer::variable(const FrameRef& frame, Place place) {
  Frame* found = frame.get();
  for (uint32_t i = 0; i < place.up; ++i) found = found->outer.get();
  return found->slots[place.slot];
}

Value Renderer::resolve(const std::string& name) {
  for (const auto& [key, value] : variables_) {
    if (key == name) return value;
  }
  if (name == "range" || name == "dict" || name == "namespace" || name == "cycler" || name == "joiner" ||
      name == "lipsum" || name == "raise_exception" || name == "strftime_now") {
    return {std::make_shared<const Function>(Function{name})};
  }
  return {};
}

Renderer::FrameRef Renderer::enter(const Scope& scope, const FrameRef& outer) {
  const FrameRef frame = std::make_shared<Frame>(Frame{outer, std::vector<Value>(scope.slots.size())});
  charge(scope.slots.size() / 4);
  for (size_t i = 0; i < scope.slots.size(); ++i) {
    const Slot& slot = scope.slots[i];
    if (slot.load == Load::resolve) frame->slots[i] = resolve(slot.name);
    if (slot.load == Load::alias) frame->slots[i] = variable(outer, slot.alias);
  }
  return frame;
}

void Renderer::assign(const Node& target, const Value& value, const FrameRef& frame) {
  if (target.kind == NodeKind::name) {
    variable(frame, target.place) = value;
    return;
  }
  if (target.kind == NodeKind::tuple) {
    const std::vector<Value> items = items_of(value);
    if (items.size() != target.parts.size()) {
      refuse("expected {} values to unpack, got {}", target.parts.size(), items.size());
    }
    for (size_t i = 0; i < items.size(); ++i) assign(*target.parts[i], items[i], frame);
    return;
  }
  const auto* space = variable(frame, target.place).as<Space*>();
  if (space == nullptr) refuse("cannot assign attribute on non-namespace object");
  const std::string& name = target.names[0];
  if (name.starts_with("_"))
    refuse("a namespace cannot store '{}', whose name begins with an underscore", name);
  if (Value* found = (*space)->find(name)) {
    *found = value;
  } else {
    charge((*space)->items.size() / 8);
    (*space)->items.emplace_back(name, value);
  }
}

// ---- Statements ----

std::string Renderer::captured(const std::vector<NodeRef>& nodes, const FrameRef& frame, Flow* flow) {
  std::string around = std::exchange(out_, {});
  *flow = execute_all(nodes, frame);
  return std::exchange(out_, std::move(around));
}

Renderer::Flow Renderer::execute_all(const std::vector<NodeRef>& nodes, const FrameRef& frame) {
  for (const NodeRef& node : nodes) {
    if (const Flow flow = execute(*node, frame); flow != Flow::next) return flow;
  }
  return Flow::next;
}

Renderer::Flow Renderer::execute_if(const Node& node, const FrameRef& frame) {
  if (truthy(evaluate(*node.parts[0], frame))) return execute_all(node.body, frame);
  for (const NodeRef& branch : node.branches) {
    if (truthy(evaluate(*branch->parts[0], frame))) return execute_all(branch->body, frame);
  }
  return execute_all(node.otherwise, frame);
}

Renderer::Flow Renderer::execute_for(const Node& node, const FrameRef& frame) {
  const auto state = std::make_shared<LoopState>();
  state->source = evaluate(*node.parts[1], frame);
  if (!is_iterable(state->source)) refuse("'{}' object is not iterable", type_name(state->source));
  const Sequence* sequence = state->source.sequence();
  if (sequence == nullptr || sequence->kind != SequenceKind::iterator) state->items = items_of(state->source);
  charge(state->items.size() / 4);
  if (node.parts[2]) {
    const FrameRef test = enter(node.scopes[1], frame);
    state->keeps = [this, &node, test](const Value& item) {
      assign(*node.parts[0], item, test);
      return truthy(evaluate(*node.parts[2], test));
    };
  }
  bool finished_one = false;
  while (state->advance()) {
    const FrameRef body = enter(node.scopes[0], frame);
    body->slots[0] = {LoopRef(state)};  // the first parameter is `loop`
    assign(*node.parts[0], *state->current, body);
    const Flow flow = execute_all(node.body, body);
    if (flow == Flow::break_) break;
    finished_one = finished_one || flow == Flow::next;
  }
  // As Jinja: an iteration that ends by break or continue does not count.
  if (finished_one || node.otherwise.empty()) return Flow::next;
  return execute_all(node.otherwise, enter(node.scopes[2], frame));
}

/// set with a body, filter, with and generation.
Renderer::Flow Renderer::execute_block(const Node& node, const FrameRef& frame) {
  const FrameRef inner = enter(node.scopes[0], frame);
  if (node.kind == NodeKind::with) {
    for (size_t i = 0; i < node.parts.size(); ++i) {
      variable(inner, node.places[i]) = evaluate(*node.parts[i], frame);
    }
    return execute_all(node.body, inner);
  }
  if (node.kind == NodeKind::generation) return execute_all(node.body, inner);
  Flow flow = Flow::next;
  Value text = make_text(captured(node.body, inner, &flow));
  if (flow != Flow::next) return flow;
  const Node* filter = node.parts[node.kind == NodeKind::set_block ? 1 : 0].get();
  std::vector<const Node*> filters;
  for (; filter != nullptr; filter = filter->parts[0].get()) filters.push_back(filter);
  for (auto at = filters.rbegin(); at != filters.rend(); ++at) text = apply_filter(**at, text, frame);
  if (node.kind == NodeKind::set_block) {
    assign(*node.parts[0], text, frame);
  } else {
    write(to_text(text));
  }
  return Flow::next;
}

void Renderer::execute_call_block(const Node& node, const FrameRef& frame) {
  const Node& call_node = *node.parts[0];
  const Value callee = evaluate(*call_node.parts[0], frame);
  Arguments arguments = evaluate_arguments(call_node.arguments, frame);
  arguments.names.emplace_back("caller", Value{Macro{node.branches[0].get(), frame}});
  write(to_text(call(callee, arguments)));
}

Renderer::Flow Renderer::execute(const Node& node, const FrameRef& frame) {
  const Nested nested(*this);
  switch (node.kind) {
    case NodeKind::data:
      write(node.text);
      return Flow::next;
    case NodeKind::output:
      write(to_text(evaluate(*node.parts[0], frame)));
      return Flow::next;
    case NodeKind::if_:
      return execute_if(node, frame);
    case NodeKind::for_:
      return execute_for(node, frame);
    case NodeKind::set:
      assign(*node.parts[0], evaluate(*node.parts[1], frame), frame);
      return Flow::next;
    case NodeKind::macro:
      variable(frame, node.place) = {Macro{&node, frame}};
      return Flow::next;
    case NodeKind::call_block:
      execute_call_block(node, frame);
      return Flow::next;
    case NodeKind::break_:
      return Flow::break_;
    case NodeKind::continue_:
      return Flow::continue_;
    default:
      return execute_block(node, frame);
  }
}

}  // namespace mote::convert::jinja
