// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

using nlohmann::json;

class JsonPostProcessors : JsonPartReader {
 public:
  using JsonPartReader::JsonPartReader;

  void read(const json& part) {
    const std::string type = values_.text(part, "type");
    if (type == "ByteLevel") {
      read_trimming(part);
    } else if (type == "BertProcessing") {
      const int32_t cls = token_of(part, "cls"), sep = token_of(part, "sep");
      spec_.single = {{cls}, {}, {sep}, {}};
      spec_.pair = {{cls}, {sep}, {sep}, {0, 0, 0, 1, 1}};
    } else if (type == "RobertaProcessing") {
      const int32_t cls = token_of(part, "cls"), sep = token_of(part, "sep");
      spec_.single = {{cls}, {}, {sep}, {}};
      spec_.pair = {{cls}, {sep, sep}, {sep}, {0, 0, 0, 0, 0, 0}};
      spec_.plain_pair_types = {0, 0};
      read_trimming(part);
    } else if (type == "TemplateProcessing") {
      if (!read_template(part, "single", 1, spec_.single)) {
        values_.refuse("post-processor 'TemplateProcessing' does not have the text once");
      }
      spec_.no_pairs = !read_template(part, "pair", 2, spec_.pair);
      if (spec_.no_pairs) spec_.pair = {};
    } else {
      values_.refuse("post-processor '{}' is not supported", shown(type));
    }
  }

 private:
  void read_trimming(const json& part) {
    spec_.trim_offsets = values_.flag(part, "trim_offsets", true);
    spec_.trim_keeps_prefix = values_.flag(part, "add_prefix_space", true);
  }

  int32_t token_of(const json& part, const char* key) const {
    const json& pair = values_.list(part, key);
    if (pair.size() != 2) values_.refuse("'{}' is not a token and its id", key);
    return known_id(pair[1], key);
  }

  int32_t known_id(const json& value, const char* key) const {
    const uint32_t id = values_.token_id(value, key);
    if (id >= draft_.vocabulary.size()) values_.refuse("the post-processor adds the unknown id {}", id);
    return static_cast<int32_t>(id);
  }

  uint8_t token_type(const json& piece) const {
    const uint32_t type = values_.number(piece, "type_id", 0);
    if (type > UINT8_MAX) values_.refuse("token type {} of a post-processor", type);
    return static_cast<uint8_t>(type);
  }

  /// False if the texts are not there once each and in order.
  bool read_template(const json& part, const char* key, uint32_t texts, TemplateSpec& pattern) const {
    static constexpr const char* kTexts[] = {"A", "B"};
    const json& tokens = values_.object(part, "special_tokens");
    std::vector<int32_t>* const places[] = {&pattern.before, texts == 1 ? &pattern.after : &pattern.between,
                                            &pattern.after};
    uint32_t seen = 0;
    for (const json& piece : values_.list(part, key)) {
      if (!piece.is_object()) values_.refuse_value(key, &piece, "an object");
      if (piece.is_object() && piece.contains("Sequence")) {
        const json& text = values_.object(piece, "Sequence");
        if (seen == texts || values_.text(text, "id") != kTexts[seen]) return false;
        ++seen;
        pattern.types.push_back(token_type(text));
        continue;
      }
      const json& token = values_.object(piece, "SpecialToken");
      const json& entry = values_.object(tokens, values_.text(token, "id").c_str());
      for (const json& id : values_.list(entry, "ids")) {
        places[seen]->push_back(known_id(id, "ids"));
        pattern.types.push_back(token_type(token));
      }
    }
    return seen == texts;
  }
};

}  // namespace

json template_json(const TextSigns& signs, const std::function<uint32_t(const std::string&)>& id_of) {
  json special = json::object();
  const auto add = [&](json& list, const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) {
      list.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
      special[token] = {
          {"id", token}, {"ids", json::array({id_of(token)})}, {"tokens", json::array({token})}};
    }
  };
  const auto text = [](const char* name) { return json{{"Sequence", {{"id", name}, {"type_id", 0}}}}; };
  json single = json::array();
  add(single, signs.before);
  single.push_back(text("A"));
  json pair = single;
  add(single, signs.after);
  add(pair, signs.between);
  pair.push_back(text("B"));
  add(pair, signs.after);
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
}

void read_post_processors(const JsonValues& values, const json& root, TokenizerDraft& draft) {
  JsonPostProcessors processors(values, draft);
  for (const json& part : values.parts(root, "post_processor", "processors")) processors.read(part);
}

}  // namespace mote::convert
