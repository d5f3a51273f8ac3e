// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/pieces.h"

#include <utility>

namespace mote::convert {
namespace {

std::string said(const ChatFormat& format, const std::string& text) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  if (!format.trim) return text;
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::string render_pieces(const ChatFormat& format, const std::vector<ChatMessage>& messages, bool answer) {
  std::string out = format.opening, system;
  const bool has_system = !messages.empty() && messages[0].role == "system";
  if (has_system || format.default_system) {
    system = format.system_before + (has_system ? said(format, messages[0].text) : *format.default_system) +
             format.system_after;
  }
  if (!format.system_in_user) out += std::exchange(system, {});
  size_t first = has_system ? 1 : 0;
  for (size_t i = first; format.single_turn && i < messages.size(); ++i) {
    if (messages[i].role == "user") first = i;
  }
  for (size_t i = first; i < messages.size(); ++i) {
    const bool user = messages[i].role == "user";
    out += user ? format.user_before : format.assistant_before;
    if (user) out += std::exchange(system, {});
    out += said(format, messages[i].text);
    out += user ? format.user_after : format.assistant_after;
  }
  return answer ? out + format.answer : out;
}

}  // namespace mote::convert
