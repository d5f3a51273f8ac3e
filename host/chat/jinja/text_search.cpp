// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/text_search.h"

#include <cstdint>

#include "host/base/work_budget.h"

namespace mote::convert::jinja {
namespace {

/// Returns the length of the longest start that is an end too, for each start of the text that `at` gives by
/// place.
template <class At>
std::vector<uint32_t> borders_of(size_t size, const At& at) {
  std::vector<uint32_t> borders(size);
  for (size_t i = 1, same = 0; i < size; ++i) {
    while (same != 0 && at(i) != at(same)) same = borders[same - 1];
    if (at(i) == at(same)) ++same;
    borders[i] = static_cast<uint32_t>(same);
  }
  return borders;
}

/// Returns where the first match ends, in bytes from the side that `at` counts from; 0 where there is none.
template <class What, class At>
size_t end_of_match(const std::vector<uint32_t>& borders, const What& what, size_t size, const At& at) {
  for (size_t i = 0, same = 0; i < size; ++i) {
    while (same != 0 && at(i) != what(same)) same = borders[same - 1];
    if (at(i) == what(same)) ++same;
    if (same == borders.size()) {
      charge_work(i / 64);
      return i + 1;
    }
  }
  charge_work(size / 64);
  return 0;
}

}  // namespace

TextSearch::TextSearch(std::string_view what)
    : what_(what),
      forward_(borders_of(what.size(), [&](size_t i) { return what[i]; })),
      backward_(borders_of(what.size(), [&](size_t i) { return what[what.size() - 1 - i]; })) {
  charge_work(what.size() / 8);
}

size_t TextSearch::first(std::string_view text) const {
  if (what_.empty()) return 0;
  const size_t end = end_of_match(
      forward_, [&](size_t i) { return what_[i]; }, text.size(), [&](size_t i) { return text[i]; });
  return end == 0 ? std::string_view::npos : end - what_.size();
}

size_t TextSearch::last(std::string_view text) const {
  if (what_.empty()) return text.size();
  const size_t end = end_of_match(
      backward_, [&](size_t i) { return what_[what_.size() - 1 - i]; }, text.size(),
      [&](size_t i) { return text[text.size() - 1 - i]; });
  return end == 0 ? std::string_view::npos : text.size() - end;
}

}  // namespace mote::convert::jinja
