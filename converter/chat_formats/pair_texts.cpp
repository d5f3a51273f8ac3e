// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/pair_texts.h"

#include <array>
#include <string>

#include "converter/chat_formats/special_tokens.h"
#include "host/base/error.h"
#include "host/chat/conversation.h"
#include "host/chat/jinja/errors.h"

namespace mote::convert {
namespace {

struct Pair {
  std::string query, document;
};

std::string rendered_pair(const jinja::Template& chat_template, const Source& source,
                          const TokenizerSpec* tokenizer, const Pair& pair) {
  const PairMessages& setting = *source.pair_messages;
  Conversation conversation;
  const auto say = [&](const char* role, const std::string& text) {
    nlohmann::ordered_json content = text;
    if (setting.parts) content = nlohmann::ordered_json::array({{{"type", "text"}, {"text", text}}});
    conversation.messages.push_back({{"role", role}, {"content", std::move(content)}});
  };
  if (!setting.instruction.empty()) say("system", setting.instruction);
  say("query", pair.query);
  say("document", pair.document);
  conversation.answer = false;
  for (const auto& [name, text] : special_token_texts(source, tokenizer)) conversation.set(name, text);
  for (const auto& [name, value] : setting.variables) {
    if (name == "add_generation_prompt") {
      conversation.answer = value == nlohmann::json(true);
    } else {
      conversation.set(name, value);
    }
  }
  return render_chat(chat_template, conversation);
}

/// The texts around `pair`, which has each of its two once, the query first.
std::array<std::string, 3> texts_around(const std::string& text, const Pair& pair) {
  const size_t query = text.find(pair.query), document = text.find(pair.document);
  if (query == std::string::npos || document == std::string::npos)
    fail("the chat template leaves out the query or the document of a pair");
  const size_t behind_query = query + pair.query.size(), behind = document + pair.document.size();
  if (document < behind_query || text.find(pair.query, behind_query) != std::string::npos ||
      text.find(pair.document, behind) != std::string::npos)
    fail("a chat template that repeats texts of a pair, or has the document first, is not supported");
  return {text.substr(0, query), text.substr(behind_query, document - behind_query), text.substr(behind)};
}

}  // namespace

void add_pair_prompts(Source& source, const TokenizerSpec* tokenizer) {
  if (!source.pair_messages) return;
  if (source.chat_template.empty())
    fail("sentence_bert_config.json has messages of pairs, but there is no chat template for them");
  try {
    const jinja::Template chat_template(source.chat_template);
    const auto render = [&](const Pair& pair) {
      return rendered_pair(chat_template, source, tokenizer, pair);
    };
    const Pair marks{"qQueryq", "qDocumentq"};
    const auto [before, between, after] = texts_around(render(marks), marks);
    const std::array<Pair, 4> proving = {
        {{"Which city?", "Paris."}, {"  a\n", "\n b  "}, {"{{ a }} <b> \"c\" &", "'d' \\n </s>"}, {"", ""}}};
    for (const Pair& pair : proving) {
      if (render(pair) != before + pair.query + between + pair.document + after)
        fail("a chat template that changes texts of a pair is not supported");
    }
    source.prompts = {{kPairPrompts[0], before}, {kPairPrompts[1], between}, {kPairPrompts[2], after}};
  } catch (const jinja::Refusal& refusal) {
    fail("the chat template refuses a pair of query and document: {}", refusal.what());
  } catch (const jinja::Unsupported& unsupported) {
    fail("the chat template of pairs is not supported: {}", unsupported.what());
  }
}

}  // namespace mote::convert
