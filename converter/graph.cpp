// SPDX-License-Identifier: Apache-2.0
#include "converter/graph.h"

namespace mote::convert {
namespace {

/// Takes the views among a node's fields.
struct Views {
  std::vector<View> all;

  void add(const View& view) { all.push_back(view); }
  void add(const std::optional<View>& view) {
    if (view) all.push_back(*view);
  }
  template <class Other>
  void add(const Other&) {}
};

}  // namespace

std::vector<View> views_of(const Node& node) {
  Views views;
  const auto add = [&](const auto&... fields) { (views.add(fields), ...); };
  std::visit([&](const auto& of_kind) { of_kind.fields(add); }, node);
  return views.all;
}

}  // namespace mote::convert
