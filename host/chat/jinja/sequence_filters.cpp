// SPDX-License-Identifier: Apache-2.0
//
// Filters that work on lists and dictionaries.
#include <algorithm>
#include <map>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/renderer.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

Value tuple_of(const Value& a, const Value& b) { return make_sequence({a, b}, SequenceKind::tuple); }

Value length(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("length", arguments, {});
  return make_int(length_of(value));
}

Value first(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("first", arguments, {});
  const Sequence* iterator = value.sequence();
  if (iterator != nullptr && iterator->kind == SequenceKind::iterator) {
    if (iterator->taken < iterator->items.size()) return iterator->items[iterator->taken++];
    return undefined("no first item, sequence was empty");
  }
  const std::vector<Value> items = items_of(value);
  return items.empty() ? undefined("no first item, sequence was empty") : items.front();
}

Value last(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("last", arguments, {});
  const Sequence* sequence = value.sequence();
  if (sequence != nullptr && sequence->kind == SequenceKind::iterator) {
    refuse("'{}' object is not reversible", type_name(value));
  }
  const std::vector<Value> items = items_of(value);
  return items.empty() ? undefined("no last item, sequence was empty") : items.back();
}

Value list(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("list", arguments, {});
  return make_sequence(items_of(value));
}

Value reverse(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("reverse", arguments, {});
  if (const Text* text = value.text()) {
    std::u32string all = characters(text->bytes);
    std::reverse(all.begin(), all.end());
    return make_text(from_characters(all), text->markup);
  }
  std::vector<Value> items = items_of(value);
  std::reverse(items.begin(), items.end());
  const Sequence* sequence = value.sequence();
  const bool as_list =
      value.is<Undefined>() || (sequence != nullptr && sequence->kind == SequenceKind::iterator);
  return make_sequence(std::move(items), as_list ? SequenceKind::list : SequenceKind::iterator);
}

Value join(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("join", arguments, {"d", "attribute"});
  const std::string by = bound.has(0) ? to_text(bound.at(0)) : "";
  std::string out;
  bool first = true;
  for (const Value& item : items_of(value)) {
    if (!first) out += by;
    first = false;
    out += to_text(bound.is_none(1) ? item : follow_path(item, bound.at(1), nullptr));
    require_bytes(out.size());
  }
  renderer.charge(out.size() / 32);
  return make_text(std::move(out));
}

Value items(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("items", arguments, {});
  std::vector<Value> pairs;
  if (!value.is<Undefined>()) {
    if (value.dict() == nullptr) refuse("can only get item pairs from a mapping");
    for (const auto& [key, item] : value.dict()->items) pairs.push_back(tuple_of(key, item));
  }
  return make_sequence(std::move(pairs), SequenceKind::iterator);
}

// ---- Order ----

struct Keyed {
  Value key, item;
};

std::vector<Value> sorted(std::vector<Keyed> keyed, bool reverse) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return reverse ? less(b.key, a.key) : less(a.key, b.key);
  });
  std::vector<Value> items;
  for (Keyed& one : keyed) items.push_back(std::move(one.item));
  return items;
}

Value dictsort(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = bound.has(1) ? bound.text(1) : "key";
  if (by != "key" && by != "value") refuse("you can only sort by either \"key\" or \"value\"");
  if (value.is<Undefined>()) refuse_undefined(value);
  if (value.dict() == nullptr) refuse("dictsort: expected a mapping, got {}", type_name(value));
  std::vector<Keyed> keyed;
  for (const auto& [key, item] : value.dict()->items) {
    const Value& part = by == "key" ? key : item;
    keyed.push_back({bound.flag(0, false) ? part : without_case(part), tuple_of(key, item)});
  }
  renderer.charge(extent_of(value).weight * 4);
  return make_sequence(sorted(std::move(keyed), bound.flag(2, false)));
}

/// The values at "a,b.c", for the order.
Value sort_key(const Value& item, const Value* attribute, bool case_sensitive) {
  std::vector<Value> keys;
  const Text* text = attribute == nullptr ? nullptr : attribute->text();
  if (text == nullptr) {
    keys.push_back(attribute == nullptr ? item : follow_path(item, *attribute, nullptr));
  } else {
    for (size_t begin = 0; begin <= text->bytes.size();) {
      const size_t end = std::min(text->bytes.find(',', begin), text->bytes.size());
      keys.push_back(follow_path(item, make_text(text->bytes.substr(begin, end - begin)), nullptr));
      begin = end + 1;
    }
  }
  for (Value& key : keys) {
    if (!case_sensitive) key = without_case(key);
  }
  return make_sequence(std::move(keys));
}

Value sort(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(value)) {
    keyed.push_back({sort_key(item, bound.is_none(2) ? nullptr : &bound.at(2), bound.flag(1, false)), item});
  }
  renderer.charge(extent_of(value).weight * 4);
  return make_sequence(sorted(std::move(keyed), bound.flag(0, false)));
}

Value attribute_key(const Value& item, const Bound& bound, size_t attribute, bool case_sensitive) {
  const Value key = bound.is_none(attribute) ? item : follow_path(item, bound.at(attribute), nullptr);
  return case_sensitive ? key : without_case(key);
}

Value unique(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> keys, items;
  for (const Value& item : items_of(value)) {
    Value key = attribute_key(item, bound, 1, bound.flag(0, false));
    require_hashable(key);
    renderer.charge(extent_of(key).weight * (1 + keys.size() / 4));
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& seen) { return equal(seen, key); })) continue;
    keys.push_back(std::move(key));
    items.push_back(item);
  }
  return make_sequence(std::move(items), SequenceKind::iterator);
}

template <bool largest>
Value extreme(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound(largest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  renderer.charge_whole(value);
  const std::vector<Value> all = items_of(value);
  if (all.empty()) return undefined("no aggregated item, sequence was empty");
  const Value* best = &all[0];
  Value best_key = attribute_key(*best, bound, 1, bound.flag(0, false));
  for (size_t i = 1; i < all.size(); ++i) {
    Value key = attribute_key(all[i], bound, 1, bound.flag(0, false));
    if (largest ? less(best_key, key) : less(key, best_key)) {
      best = &all[i];
      best_key = std::move(key);
    }
  }
  return *best;
}

Value sum(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("sum", arguments, {"attribute", "start"});
  Value total = bound.has(1) ? bound.at(1) : make_int(0);
  if (total.is<TextRef>()) refuse("sum() can't sum strings");
  for (const Value& item : items_of(value)) {
    total = arithmetic("+", total, bound.is_none(0) ? item : follow_path(item, bound.at(0), nullptr));
    renderer.charge_items(total);
  }
  return total;
}

// ---- Groups ----

Value batch(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = bound.whole(0, 1);
  std::vector<Value> batches, now;
  const auto finish = [&] { batches.push_back(make_sequence(std::exchange(now, {}))); };
  for (const Value& item : items_of(value)) {
    if (static_cast<int64_t>(now.size()) == size) finish();
    now.push_back(item);
  }
  if (!now.empty()) {
    if (size > static_cast<int64_t>(kMostWeight)) unsupported("a batch of {} values", size);
    while (!bound.is_none(1) && static_cast<int64_t>(now.size()) < size) now.push_back(bound.at(1));
    finish();
  }
  return make_sequence(std::move(batches), SequenceKind::iterator);
}

Value slice_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("slice", arguments, {"slices", "fill_with"}, 1);
  const std::vector<Value> all = items_of(value);
  const int64_t slices = bound.whole(0, 1), size = static_cast<int64_t>(all.size());
  if (slices == 0) refuse("integer division or modulo by zero");
  if (slices > 100'000) unsupported("more than 100000 slices");
  std::vector<Value> parts;
  auto at = all.begin();
  for (int64_t i = 0; i < slices; ++i) {
    const bool longer = i < size % slices;
    const auto end = at + static_cast<std::ptrdiff_t>(size / slices + (longer ? 1 : 0));
    std::vector<Value> part(at, end);
    if (!bound.is_none(1) && !longer) part.push_back(bound.at(1));
    parts.push_back(make_sequence(std::move(part)));
    at = end;
  }
  return make_sequence(std::move(parts), SequenceKind::iterator);
}

Value groupby(Renderer& renderer, const Value& value, const Arguments& arguments) {
  const Bound bound("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  std::vector<Keyed> keyed;
  const bool case_sensitive = bound.flag(2, false);
  const auto key_of = [&](const Value& item) { return follow_path(item, bound.at(0), bound.find(1)); };
  for (const Value& item : items_of(value)) {
    const Value key = key_of(item);
    keyed.push_back({case_sensitive ? key : without_case(key), item});
  }
  renderer.charge(extent_of(value).weight * 4);
  std::vector<Value> groups, group;
  const auto finish = [&] {
    const Value key = key_of(group[0]);
    groups.push_back(
        make_sequence({key, make_sequence(std::exchange(group, {}))}, SequenceKind::tuple, "group"));
  };
  std::optional<Value> last_key;
  for (const Value& item : sorted(std::move(keyed), false)) {
    Value key = case_sensitive ? key_of(item) : without_case(key_of(item));
    if (last_key && !equal(*last_key, key)) finish();
    group.push_back(item);
    last_key = std::move(key);
  }
  if (!group.empty()) finish();
  return make_sequence(std::move(groups));
}

}  // namespace

Filter find_sequence_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"length", length},     {"count", length},      {"first", first},   {"last", last},
      {"list", list},         {"reverse", reverse},   {"join", join},     {"items", items},
      {"sort", sort},         {"dictsort", dictsort}, {"unique", unique}, {"min", extreme<false>},
      {"max", extreme<true>}, {"sum", sum},           {"batch", batch},   {"slice", slice_filter},
      {"groupby", groupby},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace mote::convert::jinja
