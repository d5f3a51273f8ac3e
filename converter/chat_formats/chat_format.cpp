// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/chat_format.h"

#include "converter/error.h"

namespace mote::convert {
namespace {

struct KnownFormat {
  const char* mark;  // only templates of this format contain it
  ChatFormat format;
};

/// The first whose mark a template contains is taken.
const std::vector<KnownFormat>& known_formats() {
  static const std::vector<KnownFormat> formats{
#define CHAT_FORMAT(mark, ...) KnownFormat{mark, ChatFormat{__VA_ARGS__}},
#include "converter/chat_formats/list.inc"
#undef CHAT_FORMAT
  };
  return formats;
}

/// The text between the pieces around a system message, where the template has it as a literal.
std::optional<std::string> literal_system(const std::string& chat_template, const ChatFormat& format) {
  // A line break in a template is a line break or, inside its strings, backslash and n.
  std::string before = format.system_before;
  while (!before.empty() && before.back() == '\n') before.pop_back();
  std::string after = format.system_after;
  while (!after.empty() && after.back() == '\n') after.pop_back();
  if (before.empty() || after.empty()) return std::nullopt;
  for (size_t at = chat_template.find(before); at != std::string::npos;
       at = chat_template.find(before, at + 1)) {
    size_t begin = at + before.size();
    while (begin < chat_template.size() && chat_template[begin] == '\n') ++begin;
    while (chat_template.compare(begin, 2, "\\n") == 0) begin += 2;
    const size_t end = chat_template.find(after, begin);
    if (end == std::string::npos || end == begin) continue;
    const std::string text = chat_template.substr(begin, end - begin);
    // Anything that could be template code makes it no literal.
    if (text.find_first_of("{}'\"\\+") == std::string::npos) return text;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChatFormat> recognize_chat_format(const std::string& chat_template) {
  for (const KnownFormat& known : known_formats()) {
    if (chat_template.find(known.mark) == std::string::npos) continue;
    ChatFormat format = known.format;
    if (!format.default_system) format.default_system = literal_system(chat_template, format);
    return format;
  }
  return std::nullopt;
}

std::vector<std::string> chat_format_names() {
  std::vector<std::string> names;
  for (const KnownFormat& known : known_formats()) names.push_back(known.format.name);
  return names;
}

ChatFormat find_chat_format(const std::string& name) {
  for (const KnownFormat& known : known_formats()) {
    if (known.format.name == name) return known.format;
  }
  fail("unknown chat format '{}'; there are {}", name, fmt::join(chat_format_names(), ", "));
}

}  // namespace mote::convert
