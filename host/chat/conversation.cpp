// SPDX-License-Identifier: Apache-2.0
#include "host/chat/conversation.h"

#include <algorithm>
#include <array>

#include "host/base/error.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using Json = nlohmann::ordered_json;
static_assert(kTemplateJsonDepth == jinja::kMostDepth);

/// The keys of a message's reasoning, of which the first that is there counts.
constexpr std::array<const char*, 3> kReasoning = {"reasoning_content", "thinking", "reasoning"};

Json prepared(const Json& message, size_t index) {
  if (!message.is_object()) fail("message {} is {}, expected an object", index, message.type_name());
  Json kept = Json::object();
  const auto is_set = [&](const char* name) { return message.contains(name) && !message[name].is_null(); };
  const auto found = std::find_if(kReasoning.begin(), kReasoning.end(), is_set);
  if (found != kReasoning.end()) kept["thinking"] = message[*found];
  for (const auto& [key, value] : message.items()) {
    if (!value.is_null()) kept[key] = value;
  }
  if (found != kReasoning.end()) kept["reasoning_content"] = message[*found];
  return kept;
}

void read_member(Conversation& conversation, const std::string& key, const Json& value,
                 const std::string& where) {
  if (key == "messages") {
    conversation.messages = value;
  } else if (key == "tools") {
    conversation.tools = value;
  } else if (key == "documents") {
    conversation.documents = value;
  } else if (key == "answer" || key == "add_generation_prompt") {
    if (!value.is_boolean()) fail("{}: {} is {}, expected true or false", where, key, value.dump());
    conversation.answer = value.get<bool>();
  } else if (key == "variables") {
    if (!value.is_object()) fail("{}: variables is {}, expected an object", where, value.type_name());
    for (const auto& [name, given] : value.items()) conversation.set(name, given);
  } else if (key == "date") {
    if (!value.is_string()) fail("{}: date is {}, expected a text", where, value.dump());
    conversation.now = jinja::parse_time(value.get<std::string>());
  } else if (key != "template" && key != "case" && key != "text" && key != "error") {
    conversation.set(key, value);
  }
}

}  // namespace

void Conversation::set(const std::string& name, Json value) {
  for (auto& [key, old] : variables) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  variables.emplace_back(name, std::move(value));
}

std::string render_chat(const jinja::Template& chat_template, const Conversation& conversation) {
  Json messages = Json::array();
  for (const Json& message : conversation.messages) messages.push_back(prepared(message, messages.size()));
  jinja::Variables variables{{"messages", jinja::from_json(messages)},
                             {"tools", jinja::from_json(conversation.tools)},
                             {"documents", jinja::from_json(conversation.documents)},
                             {"add_generation_prompt", jinja::make_bool(conversation.answer)}};
  for (const auto& [name, value] : conversation.variables) {
    variables.emplace_back(name, jinja::from_json(value));
  }
  return chat_template.render(variables, conversation.now);
}

Conversation read_conversation(std::string_view text, const std::string& where) {
  Conversation conversation;
  conversation.now = jinja::current_time();
  const Json json = parse_ordered_json(text, where);
  if (json.is_array()) {
    conversation.messages = json;
  } else if (json.is_object() && json.contains("messages")) {
    for (const auto& [key, value] : json.items()) read_member(conversation, key, value, where);
  } else {
    fail("{}: expected a list of messages, or an object with messages", where);
  }
  if (!conversation.messages.is_array()) {
    fail("{}: messages is {}, expected a list", where, conversation.messages.type_name());
  }
  return conversation;
}

}  // namespace mote::convert
