// SPDX-License-Identifier: Apache-2.0
//
// Chat formats: templates are programs in Jinja, the runtime only knows pieces of text around messages. A
// table has known formats; understand.h finds out whether a template is one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/tokenizers/tokenizer_spec.h"

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

/// By name (`--chat-format`). Throws Error that lists the names.
ChatFormat find_chat_format(const std::string& name);

std::vector<std::string> chat_format_names();

/// The token that ends the format's own turn, which stops an answer whatever else does; nothing where an
/// answer is followed by plain text. Throws Error where it ends with a mark that the vocabulary lacks.
std::optional<uint32_t> end_of_turn(const ChatFormat& format, const std::vector<AddedTokenSpec>& added);

/// For a format by name: throws Error for a mark that the vocabulary lacks.
void require_marks(const ChatFormat& format, const std::vector<AddedTokenSpec>& added);

}  // namespace mote::convert
