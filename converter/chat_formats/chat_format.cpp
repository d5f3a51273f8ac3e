// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/chat_format.h"

#include <algorithm>

#include "host/base/error.h"

namespace mote::convert {
namespace {

const std::vector<ChatFormat>& known_formats() {
  static const std::vector<ChatFormat> formats{
#define CHAT_FORMAT(...) ChatFormat{__VA_ARGS__},
#include "converter/chat_formats/list.inc"
#undef CHAT_FORMAT
  };
  return formats;
}

/// "<|im_end|>", "</s>": from < to the next >, without spaces.
std::vector<std::string> marks_in(const std::string& piece) {
  std::vector<std::string> marks;
  for (size_t at = piece.find('<'); at != std::string::npos; at = piece.find('<', at + 1)) {
    const size_t end = piece.find_first_of("<> \n", at + 1);
    if (end != std::string::npos && piece[end] == '>') marks.push_back(piece.substr(at, end - at + 1));
  }
  return marks;
}

}  // namespace

std::vector<std::string> chat_format_names() {
  std::vector<std::string> names;
  for (const ChatFormat& known : known_formats()) names.push_back(known.name);
  return names;
}

ChatFormat find_chat_format(const std::string& name) {
  for (const ChatFormat& known : known_formats()) {
    if (known.name == name) return known;
  }
  fail("unknown chat format '{}'; there are {}", name, fmt::join(chat_format_names(), ", "));
}

std::optional<uint32_t> end_of_turn(const ChatFormat& format, const std::vector<AddedTokenSpec>& added) {
  for (size_t at = 0; at < format.assistant_after.size(); ++at) {
    const AddedTokenSpec* longest = nullptr;
    for (const AddedTokenSpec& token : added) {
      const bool here =
          !token.text.empty() && format.assistant_after.compare(at, token.text.size(), token.text) == 0;
      if (here && (longest == nullptr || token.text.size() > longest->text.size())) longest = &token;
    }
    if (longest != nullptr) return longest->id;
  }
  const std::vector<std::string> marks = marks_in(format.assistant_after);
  if (!marks.empty()) {
    fail("chat format {}: an answer ends with {}, which is no token of the vocabulary", format.name,
         marks[0]);
  }
  return std::nullopt;
}

void require_marks(const ChatFormat& format, const std::vector<AddedTokenSpec>& added) {
  for (const std::string* piece :
       {&format.opening, &format.system_before, &format.system_after, &format.user_before, &format.user_after,
        &format.assistant_before, &format.assistant_after}) {
    for (const std::string& mark : marks_in(*piece)) {
      // Zephyr's roles are plain text, and so are Llama 2's marks of a system message.
      const bool plain = format.name == "llama2" || (format.name == "zephyr" && mark.starts_with("<|"));
      const bool known = std::any_of(added.begin(), added.end(),
                                     [&](const AddedTokenSpec& token) { return token.text == mark; });
      if (!known && !plain) {
        fail("--chat-format {}: its mark {} is no token of the vocabulary", format.name, mark);
      }
    }
  }
}

}  // namespace mote::convert
