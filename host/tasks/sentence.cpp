// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sentence.h"

#include <cstdio>
#include <iterator>

namespace mote::host {

std::string put_together(std::string_view pattern, const Word* words, size_t count) {
  std::string text;
  for (size_t next = 0; next < count; ++next) {
    const size_t at = pattern.find("{}");
    if (at == std::string_view::npos) break;
    text.append(pattern.substr(0, at)).append(words[next].text());
    pattern.remove_prefix(at + 2);
  }
  return text.append(pattern);
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') c = ' ';
    if (byte < 0x20 || byte == 0x7f) c = c == ' ' ? ' ' : '?';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

std::string human_bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < std::size(kUnits)) value /= 1024.0, ++unit;
  char text[32];
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, kUnits[unit]);
  return text;
}

}  // namespace mote::host
