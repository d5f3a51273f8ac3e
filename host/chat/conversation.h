// SPDX-License-Identifier: Apache-2.0
//
// A conversation as transformers gives it to a chat template.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/chat/jinja/template.h"

namespace mote::convert {

struct Conversation {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  nlohmann::ordered_json tools = nullptr, documents = nullptr;
  bool answer = true;  // the text ends where the answer begins
  std::vector<std::pair<std::string, nlohmann::ordered_json>> variables =
      {};  // bos_token, enable_thinking ...
  jinja::Time now = {};

  /// Sets or adds.
  void set(const std::string& name, nlohmann::ordered_json value);
};

/// As transformers' apply_chat_template: keys of messages whose value is null are left out, and what a
/// message calls reasoning_content, thinking or reasoning has the first two names. Throws jinja::Refusal and
/// jinja::Unsupported.
std::string render_chat(const jinja::Template& chat_template, const Conversation& conversation);

/// A list of messages, or an object with messages, tools, documents, answer, variables and date; other keys
/// are variables, except those that only describe a stored rendering. Throws Error; `where` names the text.
Conversation read_conversation(std::string_view json, const std::string& where);

}  // namespace mote::convert
