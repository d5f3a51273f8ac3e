// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/special_tokens.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<const char*, 7> kNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

/// A text, or an object with its content.
void add(Texts& texts, const std::string& name, const nlohmann::json& value) {
  const auto given = [&](const auto& text) { return text.first == name; };
  if (std::any_of(texts.begin(), texts.end(), given)) return;
  const nlohmann::json* text = &value;
  if (value.is_object() && value.contains("content")) text = &value["content"];
  if (text->is_string()) texts.emplace_back(name, text->get<std::string>());
}

}  // namespace

Texts special_token_texts(const Source& source, const TokenizerSpec* tokenizer) {
  Texts texts;
  for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (source.text_files().empty()) continue;
    const nlohmann::json values = read_optional_json_object(source.text_files() / file, kTokenizerJsonDepth);
    for (const char* name : kNames) {
      if (values.contains(name)) add(texts, name, values[name]);
    }
  }
  if (!source.text_files().empty() || tokenizer == nullptr) return texts;
  for (const char* name : {"bos_token", "eos_token"}) {
    const auto id = source.config->find(std::string(name) + "_id");
    if (id == source.config->end() || !id->is_number_unsigned()) continue;
    const auto index = id->get<size_t>();
    const auto added = std::find_if(tokenizer->added.begin(), tokenizer->added.end(),
                                    [&](const AddedTokenSpec& token) { return token.id == index; });
    if (added != tokenizer->added.end()) {
      add(texts, name, added->text);
    } else if (index < tokenizer->tokens.size()) {
      add(texts, name, tokenizer->tokens[index].text);
    }
  }
  return texts;
}

}  // namespace mote::convert
