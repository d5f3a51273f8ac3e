// SPDX-License-Identifier: Apache-2.0
//
// A parsed template. Every node has the same fields; each kind says which it uses.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/base/work_budget.h"
#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

enum class NodeKind : uint8_t {
  // ---- Expressions ----
  constant,     // value
  name,         // text
  list,         // parts
  tuple,        // parts
  dict,         // parts: key, value, key, value ...
  attribute,    // parts[0].text
  item,         // parts[0][parts[1]]
  slice,        // parts: value, begin, end, step; all but the first may be null
  not_,         // parts[0]
  sign,         // text parts[0]
  arithmetic,   // parts[0] text parts[1]
  concat,       // parts
  compare,      // parts[0] names[0] parts[1] names[1] parts[2] ...
  and_,         // parts[0], parts[1]
  or_,          // parts[0], parts[1]
  conditional,  // parts: test, then, else; the last may be null
  filter,       // text; parts[0] is the value, null in a filter block; arguments
  test,         // text; parts[0]; arguments
  call,         // parts[0]; arguments
  // ---- Targets of assignments ----
  space_member,  // text.names[0]
  // ---- Statements ----
  data,          // text
  output,        // parts[0]
  if_,           // parts[0], body; branches: further nodes of this kind; otherwise
  for_,          // parts: target, iterable, test or null; body; otherwise. Scopes: body, test, otherwise
  set,           // parts: target, value
  set_block,     // parts: target, filter or null; body
  macro,         // text; names: parameters; parts: the last ones' defaults; body
  call_block,    // parts[0]: the call; branches[0]: the macro `caller`
  filter_block,  // parts[0]: the filter; body
  with,          // names; parts: their values; body
  generation,    // body
  break_,
  continue_,
  program  // body
};

struct Node;
using NodeRef = std::unique_ptr<Node>;

/// The origin of a name's value when a scope is entered.
enum class Load : uint8_t {
  parameter,  // given by who enters
  resolve,    // the caller's variable, or a global, of this name
  alias,      // that of the scope around
  undefined
};

/// Where a variable is: so many scopes out, at this slot.
struct Place {
  uint32_t up = 0, slot = 0;
};

struct Slot {
  std::string name;
  Load load;
  Place alias = {};
};

struct Scope {
  std::vector<Slot> slots;
};

struct CallArguments {
  std::vector<NodeRef> values;
  std::vector<std::pair<std::string, NodeRef>> names;
  NodeRef more_values, more_names;  // *values, **names
};

struct Node {
  NodeKind kind;
  uint32_t line = 0;
  uint32_t depth = 1;  // of the tree below
  std::string text = {};
  std::vector<std::string> names = {};
  Value value = {};
  std::vector<NodeRef> parts = {};
  CallArguments arguments = {};
  std::vector<NodeRef> body = {}, branches = {}, otherwise = {};

  // ---- Filled in by resolve_names ----
  Place place = {};                // of a name, a macro or a namespace
  std::vector<Place> places = {};  // of with's targets, of a macro's parameters, caller, kwargs and varargs
  std::vector<Scope> scopes = {};
  bool takes_caller = false, takes_kwargs = false, takes_varargs = false;
};

/// Calls `visit` with each node directly below.
template <class Visit>
void for_each_child(const Node& node, Visit visit) {
  charge_work(1 + node.parts.size() + node.body.size());
  const auto all = [&](const std::vector<NodeRef>& nodes) {
    for (const NodeRef& child : nodes) {
      if (child) visit(*child);
    }
  };
  all(node.parts);
  all(node.arguments.values);
  for (const auto& [name, value] : node.arguments.names) visit(*value);
  if (node.arguments.more_values) visit(*node.arguments.more_values);
  if (node.arguments.more_names) visit(*node.arguments.more_names);
  all(node.body);
  all(node.branches);
  all(node.otherwise);
}

}  // namespace mote::convert::jinja
