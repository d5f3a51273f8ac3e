// SPDX-License-Identifier: Apache-2.0
//
// BERT's tokenizer from a list of pieces: what its tokenizer.json would say, read as that.
#include "host/base/json_text.h"

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kTokenizerConfigDepth = 16;

/// A special token's text, given as such or as an object, in the config of some vocab.txt.
std::string special_token(const JsonValues& values, const json& config, const char* key,
                          const char* otherwise) {
  const json* found = values.find(config, key);
  if (found != nullptr && found->is_object()) return values.text(*found, "content");
  return values.text(config, key, otherwise);
}

}  // namespace

json bert_json(const std::vector<std::string>& pieces, const json& config, const std::string& where,
               const std::string& config_where) {
  const JsonValues settings(config_where);
  json vocabulary = json::object(), added = json::array(), special = json::object();
  for (size_t id = 0; id < pieces.size(); ++id) vocabulary[pieces[id]] = id;
  const std::string unknown = special_token(settings, config, "unk_token", "[UNK]");
  const std::string cls = special_token(settings, config, "cls_token", "[CLS]");
  const std::string sep = special_token(settings, config, "sep_token", "[SEP]");
  for (const std::string& token : {special_token(settings, config, "pad_token", "[PAD]"), unknown, cls, sep,
                                   special_token(settings, config, "mask_token", "[MASK]")}) {
    if (vocabulary.contains(token)) {
      added.push_back(
          {{"id", vocabulary[token]}, {"content", token}, {"special", true}, {"normalized", false}});
    }
  }
  for (const std::string& token : {unknown, cls, sep}) {
    if (!vocabulary.contains(token)) JsonValues(where).refuse("the vocabulary has no '{}'", shown(token));
  }
  const bool lower = settings.flag(config, "do_lower_case", true);
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"handle_chinese_chars", settings.flag(config, "tokenize_chinese_chars", true)},
            {"strip_accents", settings.flag(config, "strip_accents", lower)},
            {"lowercase", lower}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"model", {{"type", "WordPiece"}, {"unk_token", unknown}, {"vocab", vocabulary}}},
          {"post_processor",
           {{"type", "BertProcessing"},
            {"cls", json::array({cls, vocabulary[cls]})},
            {"sep", json::array({sep, vocabulary[sep]})}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}}};
}

TokenizerSpec read_bert_pieces(const std::vector<std::string>& pieces, const json& config,
                               const std::string& where, const std::string& config_where) {
  return read_tokenizer_json(bert_json(pieces, config, where, config_where), where);
}

std::vector<std::string> lines_of(std::span<const std::byte> vocabulary) {
  std::vector<std::string> pieces;
  std::string_view text(reinterpret_cast<const char*>(vocabulary.data()), vocabulary.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    pieces.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

TokenizerSpec read_bert_vocabulary(std::span<const std::byte> vocabulary, std::span<const std::byte> config,
                                   const std::string& where, const std::string& config_where) {
  const json settings =
      config.empty() ? json::object() : parse_json_object(config, config_where, kTokenizerConfigDepth);
  return read_bert_pieces(lines_of(vocabulary), settings, where, config_where);
}

}  // namespace mote::convert
