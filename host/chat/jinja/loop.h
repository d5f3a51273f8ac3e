// SPDX-License-Identifier: Apache-2.0
//
// The variable `loop`. Items are taken one by one, as Python's loops do: a condition on the items is asked
// when an item is needed, which the body of the loop may have changed by then.
#pragma once

#include <functional>
#include <optional>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

struct LoopState {
  Value source;                   // anything that can be walked
  std::vector<Value> items = {};  // of what is no iterator
  size_t next_item = 0;
  std::function<bool(const Value&)> keeps = {};  // empty: every item
  std::optional<std::vector<Value>> rest = {};   // drawn ahead of time, by `length`
  size_t next_rest = 0;
  std::optional<Value> after = {}, current = {}, before = {}, changed = {};
  int64_t index0 = -1;
  std::optional<int64_t> known_length = {};

  /// The next item in `current`; false at the end.
  bool advance();
  /// The item after the current one, or null.
  const Value* peek();
  int64_t length();

 private:
  std::optional<Value> draw();
  std::optional<Value> draw_source();
};

/// Refuses a loop that has ended.
std::shared_ptr<LoopState> live(const LoopRef& loop);

/// `loop.name`; undefined where there is none.
Value loop_attribute(const Value& loop, const std::string& name);

/// loop.cycle(...) and loop.changed(...).
Value call_loop_method(const Value& loop, const std::string& name, const Arguments& arguments);

}  // namespace mote::convert::jinja
