// SPDX-License-Identifier: Apache-2.0
//
// A format's pieces around messages, as the runtime puts them (runtime/text/chat.cpp).
#pragma once

#include <string>
#include <vector>

#include "converter/chat_formats/chat_format.h"

namespace mote::convert {

struct ChatMessage {
  std::string role;  // system, user, assistant; a system message is the first
  std::string text;
  bool picture = false;  // one stands before the text
};

std::string render_pieces(const ChatFormat& format, const std::vector<ChatMessage>& messages, bool answer);

}  // namespace mote::convert
