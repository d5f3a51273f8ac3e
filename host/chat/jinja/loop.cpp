// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/loop.h"

#include "host/chat/jinja/operators.h"

namespace mote::convert::jinja {

std::optional<Value> LoopState::draw_source() {
  const Sequence* iterator = source.sequence();
  if (iterator != nullptr && iterator->kind == SequenceKind::iterator) {
    if (iterator->taken == iterator->items.size()) return std::nullopt;
    return iterator->items[iterator->taken++];
  }
  if (next_item == items.size()) return std::nullopt;
  return items[next_item++];
}

std::optional<Value> LoopState::draw() {
  if (rest) return next_rest == rest->size() ? std::nullopt : std::optional((*rest)[next_rest++]);
  while (std::optional<Value> item = draw_source()) {
    if (!keeps || keeps(*item)) return item;
  }
  return std::nullopt;
}

bool LoopState::advance() {
  std::optional<Value> next = after ? std::exchange(after, std::nullopt) : draw();
  if (!next) return false;
  ++index0;
  before = std::move(current);
  current = std::move(next);
  return true;
}

const Value* LoopState::peek() {
  if (!after) after = draw();
  return after ? &*after : nullptr;
}

int64_t LoopState::length() {
  if (known_length) return *known_length;
  const Sequence* sequence = source.sequence();
  if (!keeps && (sequence == nullptr || sequence->kind != SequenceKind::iterator)) {
    known_length = static_cast<int64_t>(items.size());
    return *known_length;
  }
  std::vector<Value> drawn;
  while (std::optional<Value> item = draw()) drawn.push_back(std::move(*item));
  known_length = static_cast<int64_t>(drawn.size()) + index0 + 1 + (after ? 1 : 0);
  rest = std::move(drawn);
  next_rest = 0;
  return *known_length;
}

std::shared_ptr<LoopState> live(const LoopRef& loop) {
  std::shared_ptr<LoopState> state = loop.lock();
  if (!state) unsupported("using the variable loop after the end of its loop");
  return state;
}

Value loop_attribute(const Value& loop, const std::string& name) {
  const std::shared_ptr<LoopState> state = live(*loop.as<LoopRef>());
  if (name == "index") return make_int(state->index0 + 1);
  if (name == "index0") return make_int(state->index0);
  if (name == "first") return make_bool(state->index0 == 0);
  if (name == "last") return make_bool(state->peek() == nullptr);
  if (name == "length") return make_int(state->length());
  if (name == "revindex") return make_int(state->length() - state->index0);
  if (name == "revindex0") return make_int(state->length() - state->index0 - 1);
  if (name == "depth") return make_int(1);
  if (name == "depth0") return make_int(0);
  if (name == "previtem") {
    return state->index0 == 0 ? undefined("there is no previous item") : *state->before;
  }
  if (name == "nextitem") {
    const Value* next = state->peek();
    return next == nullptr ? undefined("there is no next item") : *next;
  }
  if (name == "cycle" || name == "changed") {
    return {std::make_shared<const Function>(Function{name, loop, Function::Kind::method})};
  }
  return undefined(fmt::format("loop has no attribute '{}'", name));
}

Value call_loop_method(const Value& loop, const std::string& name, const Arguments& arguments) {
  const std::shared_ptr<LoopState> state = live(*loop.as<LoopRef>());
  if (!arguments.names.empty()) refuse("loop.{} takes no keyword arguments", name);
  if (name == "cycle") {
    if (arguments.values.empty()) refuse("loop.cycle: no items for cycling given");
    return arguments.values[static_cast<size_t>(state->index0) % arguments.values.size()];
  }
  Value now = make_sequence(arguments.values, SequenceKind::tuple);
  const bool changed = !state->changed || !equal(*state->changed, now);
  if (changed) state->changed = std::move(now);
  return make_bool(changed);
}

}  // namespace mote::convert::jinja
