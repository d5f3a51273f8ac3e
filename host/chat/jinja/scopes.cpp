// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/scopes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "host/base/work_budget.h"

namespace mote::convert::jinja {
namespace {

constexpr uint64_t kNameSteps = 64;

/// The names of one scope, while its statements are read in order.
class Names {
 public:
  explicit Names(const Names* outer) : outer_(outer) {}

  void load(const std::string& name) {
    if (!find(name)) define(name, Load::resolve);
  }
  void parameter(const std::string& name) {
    stores_.insert(name);
    define(name, Load::parameter);
  }
  void store(const std::string& name) {
    stores_.insert(name);
    if (slots_.count(name) != 0) return;
    const std::optional<Place> outer = outer_ == nullptr ? std::nullopt : outer_->find(name);
    if (outer) {
      define(name, Load::alias, *outer);
    } else {
      define(name, Load::undefined);
    }
  }
  /// After the branches of a condition: what only some of them set begins with the value from outside.
  void merge(const std::vector<Names>& branches) {
    std::set<std::string> stores;
    for (const Names& branch : branches) stores.insert(branch.stores_.begin(), branch.stores_.end());
    for (const std::string& name : stores_) stores.erase(name);
    for (const Names& branch : branches) {
      for (const Slot& slot : branch.scope_.slots) define(slot.name, slot.load, slot.alias);
      stores_.insert(branch.stores_.begin(), branch.stores_.end());
    }
    for (const std::string& name : stores) {
      const std::optional<Place> outer = outer_ == nullptr ? std::nullopt : outer_->find(name);
      if (outer) {
        define(name, Load::alias, *outer);
      } else {
        define(name, Load::resolve);
      }
    }
  }
  std::optional<Place> find(const std::string& name) const {
    const auto slot = slots_.find(name);
    if (slot != slots_.end()) return Place{0, slot->second};
    std::optional<Place> outer = outer_ == nullptr ? std::nullopt : outer_->find(name);
    if (outer) ++outer->up;
    return outer;
  }
  const Scope& scope() const { return scope_; }
  size_t size() const { return slots_.size(); }

 private:
  void define(const std::string& name, Load load, Place alias = {}) {
    const auto [at, added] = slots_.try_emplace(name, static_cast<uint32_t>(scope_.slots.size()));
    if (added) {
      scope_.slots.push_back({name, load, alias});
    } else {
      scope_.slots[at->second].load = load;
      scope_.slots[at->second].alias = alias;
    }
  }

  const Names* outer_;
  Scope scope_;
  std::map<std::string, uint32_t> slots_;
  std::set<std::string> stores_;
};

// ---- Reading a scope's statements: what it loads and stores, without the scopes inside ----

void read(const Node& node, Names& names);

void read_all(const std::vector<NodeRef>& nodes, Names& names) {
  for (const NodeRef& node : nodes) {
    if (node) read(*node, names);
  }
}

void read_target(const Node& target, Names& names, bool parameter) {
  if (target.kind == NodeKind::tuple) {
    for (const NodeRef& part : target.parts) read_target(*part, names, parameter);
  } else if (target.kind == NodeKind::space_member) {
    names.load(target.text);
  } else if (parameter) {
    names.parameter(target.text);
  } else {
    names.store(target.text);
  }
}

void read_condition(const Node& node, Names& names) {
  read(*node.parts[0], names);
  charge_work(kNameSteps * names.size());  // which each branch copies
  const Names before = names;
  std::vector<Names> branches(3, before);
  read_all(node.body, branches[0]);
  for (const NodeRef& branch : node.branches) read_condition(*branch, branches[1]);
  read_all(node.otherwise, branches[2]);
  names.merge(branches);
}

void read(const Node& node, Names& names) {
  switch (node.kind) {
    case NodeKind::name:
      return names.load(node.text);
    case NodeKind::if_:
      return read_condition(node, names);
    case NodeKind::for_:
      return read(*node.parts[1], names);
    case NodeKind::set:
      read(*node.parts[1], names);
      return read_target(*node.parts[0], names, false);
    case NodeKind::set_block:
      if (node.parts[1]) read(*node.parts[1], names);
      return read_target(*node.parts[0], names, false);
    case NodeKind::macro:
      return names.store(node.text);
    case NodeKind::call_block:
    case NodeKind::filter_block:
      return read(*node.parts[0], names);
    case NodeKind::with:
      return read_all(node.parts, names);
    case NodeKind::generation:
      return;
    default:
      for_each_child(node, [&](const Node& child) { read(child, names); });
  }
}

// ---- Filling in places ----

void place(Node& node, const Names& names);

void place_all(std::vector<NodeRef>& nodes, const Names& names) {
  for (NodeRef& node : nodes) {
    if (node) place(*node, names);
  }
}

Place found(const std::string& name, const Names& names) {
  const std::optional<Place> place = names.find(name);
  if (!place) unsupported("the use of the name '{}'", name);
  return *place;
}

bool targets(const Node& target, const std::string& name) {
  if (target.kind == NodeKind::name) return target.text == name;
  return std::any_of(target.parts.begin(), target.parts.end(),
                     [&](const NodeRef& part) { return part && targets(*part, name); });
}

/// Says whether a name is used below and was not assigned to before, in the order of the text.
bool uses(const Node& node, const std::string& name, bool* assigned) {
  if (*assigned) return false;
  if (node.kind == NodeKind::name) return node.text == name;
  const bool assigns =
      node.kind == NodeKind::for_ || node.kind == NodeKind::set || node.kind == NodeKind::set_block;
  const bool declares = node.kind == NodeKind::macro || node.kind == NodeKind::with;
  if ((assigns && targets(*node.parts[0], name)) ||
      (declares && std::find(node.names.begin(), node.names.end(), name) != node.names.end())) {
    *assigned = true;
    return false;
  }
  bool found = false;
  for_each_child(node, [&](const Node& child) { found = found || uses(child, name, assigned); });
  return found;
}

bool uses(const std::vector<NodeRef>& nodes, const std::string& name) {
  bool assigned = false;
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const NodeRef& node) { return uses(*node, name, &assigned); });
}

/// Says whether anything in a loop assigns to a name.
bool assigns_below(const Node& node, const std::string& name) {
  const bool assigns =
      node.kind == NodeKind::for_ || node.kind == NodeKind::set || node.kind == NodeKind::set_block;
  bool found = assigns && targets(*node.parts[0], name);
  for_each_child(node, [&](const Node& child) { found = found || assigns_below(child, name); });
  return found;
}

void place_macro(Node& node, const Names& outer) {
  Names names(&outer);
  for (const std::string& name : node.names) names.parameter(name);
  read_all(node.parts, names);
  node.takes_caller = uses(node.body, "caller");
  node.takes_kwargs = uses(node.body, "kwargs");
  node.takes_varargs = uses(node.body, "varargs");
  if (node.takes_caller) names.parameter("caller");
  if (node.takes_kwargs) names.parameter("kwargs");
  if (node.takes_varargs) names.parameter("varargs");
  read_all(node.body, names);
  for (const std::string& name : node.names) node.places.push_back(found(name, names));
  for (const char* name : {"caller", "kwargs", "varargs"}) {
    node.places.push_back(names.find(name).value_or(Place{}));
  }
  node.scopes = {names.scope()};
  place_all(node.parts, names);
  place_all(node.body, names);
}

void place_for(Node& node, const Names& outer) {
  if (assigns_below(node, "loop")) refuse("line {}: cannot assign to the variable loop", node.line);
  Names body(&outer), test(&outer), otherwise(&outer);
  body.parameter("loop");
  read_target(*node.parts[0], body, true);
  read_all(node.body, body);
  test.parameter("");  // the slot that `loop` has in the body: targets have one place in both
  read_target(*node.parts[0], test, true);
  if (node.parts[2]) read(*node.parts[2], test);
  read_all(node.otherwise, otherwise);
  node.scopes = {body.scope(), test.scope(), otherwise.scope()};
  place(*node.parts[0], body);
  place(*node.parts[1], outer);
  if (node.parts[2]) place(*node.parts[2], test);
  place_all(node.body, body);
  place_all(node.otherwise, otherwise);
}

void place_block(Node& node, const Names& outer) {
  Names names(&outer);
  for (const std::string& name : node.names) names.parameter(name);
  read_all(node.body, names);
  for (const std::string& name : node.names) node.places.push_back(found(name, names));
  node.scopes = {names.scope()};
  place_all(node.parts, outer);
  place_all(node.body, names);
}

void place(Node& node, const Names& names) {
  switch (node.kind) {
    case NodeKind::name:
    case NodeKind::space_member:
      node.place = found(node.text, names);
      return;
    case NodeKind::for_:
      return place_for(node, names);
    case NodeKind::macro:
      if (!node.text.empty()) node.place = found(node.text, names);
      return place_macro(node, names);
    case NodeKind::set_block:
    case NodeKind::filter_block:
    case NodeKind::with:
    case NodeKind::generation:
      return place_block(node, names);
    default:
      break;
  }
  place_all(node.parts, names);
  place_all(node.arguments.values, names);
  for (auto& [name, value] : node.arguments.names) place(*value, names);
  if (node.arguments.more_values) place(*node.arguments.more_values, names);
  if (node.arguments.more_names) place(*node.arguments.more_names, names);
  place_all(node.body, names);
  place_all(node.branches, names);
  place_all(node.otherwise, names);
}

}  // namespace

void resolve_names(Node& program) {
  Names names(nullptr);
  if (uses(program.body, "self")) unsupported("the variable self");
  read_all(program.body, names);
  program.scopes = {names.scope()};
  place_all(program.body, names);
}

}  // namespace mote::convert::jinja
