// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/ids.h"

#include <charconv>

#include "host/base/error.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {

std::vector<int32_t> parse_ids(std::string_view text, const std::string& what) {
  constexpr std::string_view kSeparators = ", \t\r\n";
  std::vector<int32_t> ids;
  for (size_t begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    int32_t id = 0;
    const auto [stop, status] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (status != std::errc() || stop != word.data() + word.size() || id < 0) {
      convert::fail("{}: '{}' is not a token id; give numbers such as 1,2,3", what, word.substr(0, 40));
    }
    ids.push_back(id);
    begin = text.find_first_not_of(kSeparators, end);
  }
  return ids;
}

std::vector<int32_t> given_ids(std::string_view text) {
  try {
    return parse_ids(text, "--ids");
  } catch (const convert::Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<int32_t> read_ids(const std::string& path) { return parse_ids(read_text(path), path); }

std::vector<int32_t> pseudo_random_ids(uint32_t n, uint32_t vocab) {
  std::vector<int32_t> ids(n);
  uint64_t state = 0;
  for (int32_t& id : ids) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
    id = static_cast<int32_t>((state >> 33) % vocab);
  }
  return ids;
}

}  // namespace mote::cli
