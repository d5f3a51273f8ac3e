// SPDX-License-Identifier: Apache-2.0
//
// Chat formats: templates are programs in Jinja, the runtime only knows pieces of text around messages. So a
// template is recognised by a text that it contains, and a table gives the pieces.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mote::convert {

/// As in the schema, which has the meaning of each field.
struct ChatFormat {
  std::string name;
  std::string opening;
  std::string system_before, system_after;
  std::string user_before, user_after;
  std::string assistant_before, assistant_after;
  std::string answer;
  bool system_in_user = false;
  bool trim = false;
  bool single_turn = false;
  std::optional<std::string> default_system = std::nullopt;
};

/// The format that a model's template follows, with the default system message that the template carries;
/// none if it follows no known one.
std::optional<ChatFormat> recognize_chat_format(const std::string& chat_template);

/// By name (`--chat-format`). Throws Error that lists the names.
ChatFormat find_chat_format(const std::string& name);

std::vector<std::string> chat_format_names();

}  // namespace mote::convert
