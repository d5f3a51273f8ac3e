// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/help/help_files.h"

#include <algorithm>
#include <array>

namespace mote::cli {

bool may_be_file(std::string_view value) {
  static constexpr std::array<std::string_view, 15> kOthers = {
      "ID",        "IDS", "CODE",  "XX",  "YY",           "TYPE", "KIND",  "NAME",
      "NAME=JSON", "KEY", "QUERY", "ISO", "WIDTHxHEIGHT", "WHAT", "ANSWER"};
  return value.size() > 1 && std::find(kOthers.begin(), kOthers.end(), value) == kOthers.end();
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += between;
    line += word;
  }
  return line;
}

std::string escaped(std::string_view text, std::string_view characters, std::string_view before) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += before;
    out += c;
  }
  return out;
}

}  // namespace mote::cli
