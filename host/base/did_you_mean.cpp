// SPDX-License-Identifier: Apache-2.0
#include "host/base/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mote::convert {
namespace {

/// Insertions, deletions and substitutions (Levenshtein 1966).
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  const size_t dashes = std::min(given.find_first_not_of('-'), given.size());  // those of options say nothing
  size_t least = (given.size() - dashes) / 2 + 1;  // farther than half of it is another word
  const std::string* nearest = nullptr;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(given, name);
    if (distance <= least && (nearest == nullptr || distance < least)) {
      least = distance;
      nearest = &name;
    }
  }
  return nearest == nullptr ? "" : fmt::format(", did you mean '{}'?", *nearest);
}

}  // namespace mote::convert
