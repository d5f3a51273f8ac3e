// SPDX-License-Identifier: Apache-2.0
#include "host/chat/model_template.h"

#include <algorithm>
#include <string_view>

#include "host/base/error.h"
#include "host/base/json_text.h"
#include "host/tasks/text.h"

namespace mote::convert {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBreak = "\uE0F0";  // of a private use area: it stands in no token and no template

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Returns the text with a break between its characters but beside white space, so that nothing in it is a
/// special token, normalized or not, and trimming does as it does without them.
std::string broken(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool starts = (static_cast<uint8_t>(text[at]) & 0xC0) != 0x80;
    if (at != 0 && starts && !is_space(text[at]) && !is_space(text[at - 1])) out += kBreak;
    out += text[at];
  }
  return out;
}

std::string without_breaks(std::string text) {
  for (size_t at = text.find(kBreak); at != std::string::npos; at = text.find(kBreak, at))
    text.erase(at, kBreak.size());
  return text;
}

/// Breaks all texts of a message's content; a model's own answers are taken apart by templates, so of them
/// only `specials` are broken.
void break_content(Json& content, const std::vector<std::string>* specials) {
  if (content.is_array()) {
    for (Json& part : content) {
      if (part.is_object() && part.contains("text")) break_content(part["text"], specials);
    }
    return;
  }
  if (!content.is_string()) return;
  std::string text = content.get<std::string>();
  if (specials == nullptr) {
    content = broken(text);
    return;
  }
  for (const std::string& special : *specials) {
    for (size_t at = text.find(special); at != std::string::npos; at = text.find(special, at)) {
      const std::string apart = broken(special);
      text.replace(at, special.size(), apart);
      at += apart.size();
    }
  }
  content = std::move(text);
}

Conversation with_broken_contents(Conversation conversation, const std::vector<std::string>& specials) {
  for (Json& message : conversation.messages) {
    if (!message.is_object()) continue;
    const bool own = message.contains("role") && message["role"] == "assistant";
    for (const char* key : {"content", "reasoning_content", "thinking"}) {
      if (message.contains(key)) break_content(message[key], own ? &specials : nullptr);
    }
  }
  return conversation;
}

/// The special tokens in a text and where they stand.
struct Found {
  int32_t id;
  mote_span span;
};

bool is_special(const host::Model& model, int32_t id) { return mote_token_is_special(model.get(), id) != 0; }

std::vector<Found> specials_in(const host::Model& model, const host::TokenList& tokens) {
  std::vector<Found> found;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (is_special(model, tokens.ids[i])) found.push_back({tokens.ids[i], tokens.spans[i]});
  }
  return found;
}

std::vector<std::string> special_texts(const host::Model& model) {
  std::vector<std::string> texts;
  for (int32_t id = 0; id < static_cast<int32_t>(model.info().tokens); ++id) {
    if (is_special(model, id) && !model.token_text(id).empty()) texts.push_back(model.token_text(id));
  }
  return texts;
}

/// Returns the ids of a text whose special tokens are those of `found` alone, in which messages are broken
/// apart.
host::Result<std::vector<int32_t>> tokenize_around(const host::Model& model, const host::Session& session,
                                                   const std::string& text, const std::vector<Found>& found) {
  std::vector<int32_t> ids;
  size_t from = 0;
  const auto plain = [&](size_t end) -> host::Status {
    const std::string part = without_breaks(text.substr(from, end - from));
    if (part.empty()) return {};
    MOTE_TAKE(const std::vector<int32_t> own, host::tokenize(model, session, part, 0));
    ids.insert(ids.end(), own.begin(), own.end());
    return {};
  };
  for (const Found& special : found) {
    MOTE_TRY(plain(special.span.begin));
    ids.push_back(special.id);
    from = special.span.end;
  }
  MOTE_TRY(plain(text.size()));
  return ids;
}

Json content_of(const host::ChatMessage& message, bool parts) {
  if (!parts) return std::string(message.text);
  return Json::array({{{"type", "text"}, {"text", std::string(message.text)}}});
}

Conversation conversation_of(std::span<const host::ChatMessage> messages, bool parts) {
  static constexpr const char* kRoles[] = {"system", "user", "assistant"};
  Conversation conversation;
  conversation.now = jinja::current_time();
  for (const host::ChatMessage& message : messages)
    conversation.messages.push_back(
        {{"role", kRoles[message.role]}, {"content", content_of(message, parts)}});
  return conversation;
}

/// Fails with what the model's template refuses.
host::Status refused(const host::Model& model, const jinja::Refusal& refusal) {
  return host::failed("{}: its chat template refuses: {}", model.name(), refusal.what());
}

/// Tokenizes by the template; `parts`: contents are lists, as processors of pictures give them.
host::Result<std::vector<int32_t>> tokenize_or_refuse(const ModelTemplate& chat, const host::Model& model,
                                                      const host::Session& session,
                                                      std::span<const host::ChatMessage> messages, bool parts,
                                                      const host::ChatTokenizer& pieces) {
  try {
    return chat.tokenize(model, session, conversation_of(messages, parts));
  } catch (const jinja::Refusal& refusal) {
    if (mote_chat_format(model.get()) != nullptr) return pieces(messages);
    return refused(model, refusal);
  } catch (const Error& error) {
    return host::failed("{}", error.what());
  }
}

}  // namespace

std::optional<ModelTemplate> ModelTemplate::of(const host::Model& model) {
  const char* const kept = mote_chat_template(model.get());
  if (kept == nullptr) return std::nullopt;
  const std::string where = model.name() + ": its chat template";
  const Json all = parse_ordered_json(kept, where);
  const bool sound = all.is_object() && all.contains("text") && all["text"].is_string() &&
                     all.contains("variables") && all["variables"].is_object();
  if (!sound) fail("{} is not JSON with a text and variables", where);
  try {
    ModelTemplate chat(all["text"].get<std::string>(), special_texts(model));
    for (const auto& [name, value] : all["variables"].items()) chat.set(name, value);
    return chat;
  } catch (const jinja::Unsupported& error) {
    fail("{}: its chat template is not understood: {}", model.name(), error.what());
  } catch (const jinja::Refusal& error) {
    fail("{}: its chat template: {}", model.name(), error.what());
  }
}

std::string ModelTemplate::render(const Conversation& given) const {
  Conversation conversation = given;
  for (const auto& own : variables_.variables) {
    const auto is_same = [&](const auto& one) { return one.first == own.first; };
    if (std::none_of(given.variables.begin(), given.variables.end(), is_same))
      conversation.set(own.first, own.second);
  }
  try {
    return render_chat(*template_, conversation);
  } catch (const jinja::Unsupported& error) {
    fail("the chat template is not understood: {}", error.what());
  }
}

host::Result<std::vector<int32_t>> ModelTemplate::tokenize(const host::Model& model,
                                                           const host::Session& session,
                                                           const Conversation& conversation) const {
  const std::string text = render(conversation);
  MOTE_TAKE(const host::TokenList whole,
            host::list_tokens(model, text, std::nullopt, MOTE_PARSE_SPECIAL, session.get()));
  const std::string apart = render(with_broken_contents(conversation, *specials_));
  MOTE_TAKE(const host::TokenList marked,
            host::list_tokens(model, apart, std::nullopt, MOTE_PARSE_SPECIAL, session.get()));
  const std::vector<Found> all = specials_in(model, whole), of_template = specials_in(model, marked);
  const auto same = [](const Found& a, const Found& b) { return a.id == b.id; };
  if (std::equal(all.begin(), all.end(), of_template.begin(), of_template.end(), same)) return whole.ids;
  if (without_breaks(apart) != text) {
    return host::failed("{}: a message spells special tokens, and its chat template reads into that message",
                        model.name());
  }
  return tokenize_around(model, session, apart, of_template);
}

host::Result<std::vector<int32_t>> tokenize_messages(
    const host::Model& model, const host::Session& session, Conversation conversation,
    const std::vector<std::pair<std::string, nlohmann::ordered_json>>& variables) {
  const std::optional<ModelTemplate> chat = ModelTemplate::of(model);
  if (!chat) return host::failed("{} keeps no chat template, which a conversation takes", model.name());
  for (const auto& [name, value] : variables) conversation.set(name, value);
  try {
    return chat->tokenize(model, session, conversation);
  } catch (const jinja::Refusal& refusal) {
    return refused(model, refusal);
  } catch (const Error& error) {
    return host::failed("{}", error.what());
  }
}

host::Result<host::ChatTokenizer> chat_tokenizer(
    const host::Model& model, const host::Session& session,
    const std::vector<std::pair<std::string, nlohmann::ordered_json>>& variables) {
  std::optional<ModelTemplate> chat = ModelTemplate::of(model);
  host::ChatTokenizer pieces = host::tokenizer_of_pieces(model, session);
  if (!chat) {
    if (!variables.empty())
      return host::failed("{} keeps no chat template, which variables are for", model.name());
    if (mote_chat_format(model.get()) == nullptr)
      return host::failed(host::Remedy::chat_format, "{} has no chat format", model.name());
    return pieces;
  }
  for (const auto& [name, value] : variables) chat->set(name, value);
  mote_vision_input_info vision_input;
  const bool parts = mote_model_get_vision_input(model.get(), &vision_input, nullptr) == MOTE_OK;
  return host::ChatTokenizer([chat = *std::move(chat), &model, &session, parts,
                              pieces](std::span<const host::ChatMessage> messages) {
    const bool shows =
        std::any_of(messages.begin(), messages.end(), [](const auto& one) { return one.pictures != 0; });
    return shows ? pieces(messages) : tokenize_or_refuse(chat, model, session, messages, parts, pieces);
  });
}

}  // namespace mote::convert
