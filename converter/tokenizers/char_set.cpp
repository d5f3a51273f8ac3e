// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/char_set.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

/// In the order of utf8proc_category_t.
constexpr std::array<std::string_view, 30> kCategories = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

using Categories = std::array<CharSet, kCategories.size()>;

/// Made at the first call.
const Categories& categories() {
  static const Categories sets = [] {
    Categories made;
    for (uint32_t c = 0; c < kCodePoints; ++c) {
      made[static_cast<size_t>(utf8proc_category(static_cast<utf8proc_int32_t>(c)))].add(c, c);
    }
    return made;
  }();
  return sets;
}

}  // namespace

CharSet CharSet::of_ranges(std::vector<Range> ranges) {
  charge_work(ranges.size());
  std::sort(ranges.begin(), ranges.end());
  CharSet result;
  for (const Range& range : ranges) result.add(range.first, range.last);
  return result;
}

CharSet& CharSet::add(uint32_t first, uint32_t last) {
  last = std::min(last, kCodePoints - 1);
  if (first > last) return *this;
  // A range that ends before `first`, and does not touch it, stays as it is.
  auto begin = ranges_.end();
  if (!ranges_.empty() && ranges_.back().last + 1 >= first) {
    begin = std::partition_point(ranges_.begin(), ranges_.end(),
                                 [&](const Range& range) { return range.last + 1 < first; });
  }
  auto end = begin;
  for (; end != ranges_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  charge_work(1 + static_cast<uint64_t>(ranges_.end() - begin) / 8);  // what is moved
  if (begin == end) {
    ranges_.insert(begin, {first, last});
  } else {
    *begin = {first, last};
    ranges_.erase(begin + 1, end);
  }
  return *this;
}

CharSet CharSet::complement() const {
  charge_work(1 + ranges_.size());
  CharSet result;
  uint32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < kCodePoints) result.ranges_.push_back({next, kCodePoints - 1});
  return result;
}

CharSet CharSet::operator|(const CharSet& other) const {
  charge_work(ranges_.size() + other.ranges_.size());
  std::vector<Range> all;
  std::merge(ranges_.begin(), ranges_.end(), other.ranges_.begin(), other.ranges_.end(),
             std::back_inserter(all));
  CharSet result;
  for (const Range& range : all) {
    if (!result.ranges_.empty() && result.ranges_.back().last + 1 >= range.first) {
      result.ranges_.back().last = std::max(result.ranges_.back().last, range.last);
    } else {
      result.ranges_.push_back(range);
    }
  }
  return result;
}

CharSet CharSet::operator&(const CharSet& other) const {
  charge_work(1 + ranges_.size() + other.ranges_.size());
  CharSet result;
  auto a = ranges_.begin(), b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const uint32_t first = std::max(a->first, b->first), last = std::min(a->last, b->last);
    if (first <= last) result.ranges_.push_back({first, last});
    a->last < b->last ? ++a : ++b;
  }
  return result;
}

bool CharSet::has(uint32_t code_point) const {
  const auto found = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& range) { return range.last < code_point; });
  return found != ranges_.end() && found->first <= code_point;
}

CharSet space_set() {
  return CharSet()
      .add(0x09, 0x0D)
      .add(0x20, 0x20)
      .add(0x85, 0x85)
      .add(0xA0, 0xA0)
      .add(0x1680, 0x1680)
      .add(0x2000, 0x200A)
      .add(0x2028, 0x2029)
      .add(0x202F, 0x202F)
      .add(0x205F, 0x205F)
      .add(0x3000, 0x3000);
}

CharSet word_set() { return category_set("L") | category_set("M") | category_set("Nd") | category_set("Pc"); }

CharSet digit_set() { return category_set("Nd"); }

CharSet category_set(std::string_view name) {
  CharSet set;
  bool known = false;
  for (size_t i = 0; i < kCategories.size(); ++i) {
    const bool group = name.size() == 1 && kCategories[i].front() == name.front();
    if (!group && kCategories[i] != name) continue;
    known = true;
    set = set | categories()[i];
  }
  if (!known) fail("\\p{{{}}}: only general categories of Unicode are read", name);
  return set;
}

const char* unicode_version() { return utf8proc_unicode_version(); }

}  // namespace mote::convert
