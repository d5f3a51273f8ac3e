// SPDX-License-Identifier: Apache-2.0
//
// Names of modules and tensors that are found by their ends, in time that does not grow with the product of
// how many names and how many ends there are.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "converter/source.h"
#include "host/base/work_budget.h"

namespace mote::convert {

/// Calls f(key, value) for each key of a config that names the module: its name, or its end behind a dot; a
/// key that begins with '^' is the whole name.
template <class Value, class F>
void each_naming(const std::map<std::string, Value, std::less<>>& keys, const std::string& module,
                 const F& f) {
  if (keys.empty()) return;
  const auto call = [&](std::string_view name) {
    charge_work(name.size() + 1);
    if (const auto found = keys.find(name); found != keys.end()) f(found->first, found->second);
  };
  call("^" + module);
  for (std::string_view end = module;;) {
    if (!end.starts_with('^')) call(end);
    const size_t dot = end.find('.');
    if (dot == std::string_view::npos) return;
    end.remove_prefix(dot + 1);
  }
}

/// Starts of names, of which one is found in time that does not grow with their number.
class NameStarts {
 public:
  void add(std::string_view start) {
    if (any_of(start)) return;  // a shorter one says it already
    const auto first = starts_.lower_bound(start);
    auto end = first;
    while (end != starts_.end() && end->starts_with(start)) ++end;
    starts_.insert(starts_.erase(first, end), std::string(start));
  }
  /// Returns whether the text begins with one of them. None begins with another, so only the last one that is
  /// not behind the text can be it.
  bool any_of(std::string_view text) const {
    const auto behind = starts_.upper_bound(text);
    return behind != starts_.begin() && text.starts_with(*std::prev(behind));
  }
  /// Returns whether the name, or the part behind one of its dots, begins with one of them.
  bool any_within(std::string_view name) const {
    for (std::string_view end = name;;) {
      charge_work(end.size() + 1);
      if (any_of(end)) return true;
      const size_t dot = end.find('.');
      if (dot == std::string_view::npos) return false;
      end.remove_prefix(dot + 1);
    }
  }

 private:
  std::set<std::string, std::less<>> starts_;
};

/// A model's tensors by the ends of their names.
class TensorEnds {
 public:
  /// `tensor` must stay where it is.
  void add(const std::string& name, SourceTensor& tensor) { by_end_[reversed(name)] = &tensor; }
  /// The only tensor whose name ends with a dot and `end`; null: there is none, or there are several.
  SourceTensor* find(const std::string& end) const {
    const std::string start = reversed("." + end);
    const auto first = by_end_.lower_bound(start);
    if (first == by_end_.end() || !first->first.starts_with(start)) return nullptr;
    const auto second = std::next(first);
    return second != by_end_.end() && second->first.starts_with(start) ? nullptr : first->second;
  }

 private:
  static std::string reversed(std::string text) {
    std::reverse(text.begin(), text.end());
    return text;
  }

  std::map<std::string, SourceTensor*> by_end_;
};

}  // namespace mote::convert
