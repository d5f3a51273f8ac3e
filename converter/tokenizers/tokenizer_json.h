// SPDX-License-Identifier: Apache-2.0
//
// The parts of a tokenizer.json: a normalizer, a pre-tokenizer, a model, a post-processor and a decoder, each
// of a type with its own keys. Each reader below adds what it reads to the draft; all throw Error, naming
// what is not understood. The order of the calls is that of the declarations.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

class JsonValues;

struct TokenizerDraft {
  TokenizerSpec spec;
  std::vector<std::string> vocabulary;            // as written, by id
  std::unordered_map<std::string, uint32_t> ids;  // of the model's own tokens
  bool byte_level = false;
  bool has_no_spaces = false;  // a pre-tokenizer has taken them out
};

/// The members that a reader of parts of one kind has.
class JsonPartReader {
 public:
  JsonPartReader(const JsonValues& values, TokenizerDraft& draft)
      : values_(values), draft_(draft), spec_(draft.spec) {}

 protected:
  const JsonValues& values_;
  TokenizerDraft& draft_;
  TokenizerSpec& spec_;
};

void read_normalizers(const JsonValues& values, const nlohmann::json& root, TokenizerDraft& draft);
void read_pre_tokenizers(const JsonValues& values, const nlohmann::json& root, TokenizerDraft& draft);
void read_token_model(const JsonValues& values, const nlohmann::json& root, TokenizerDraft& draft);
void read_decoders(const JsonValues& values, const nlohmann::json& root, TokenizerDraft& draft,
                   DecoderNeed need);
void read_post_processors(const JsonValues& values, const nlohmann::json& root, TokenizerDraft& draft);

/// Replaces one text by another while text is copied, after the normalizers: one pass, so what later
/// replacements make of an earlier one's text is worked out here.
void add_replacement(const JsonValues& values, const std::string& from, const std::string& to,
                     TokenizerSpec& spec);

/// From a parsed tokenizer.json.
TokenizerSpec read_tokenizer_json(const nlohmann::json& root, const std::string& where,
                                  DecoderNeed need = DecoderNeed::required);

/// The tokenizer.json of BERT's tokenizer with these pieces, "##" before those inside words, and the settings
/// of a tokenizer_config.json. Messages name them `where` and `config_where`.
nlohmann::json bert_json(const std::vector<std::string>& pieces, const nlohmann::json& config,
                         const std::string& where, const std::string& config_where);
/// Signs before, between and behind texts.
struct TextSigns {
  std::vector<std::string> before, between, after;
};
/// The post-processor that adds them, of token type 0.
nlohmann::json template_json(const TextSigns& signs,
                             const std::function<uint32_t(const std::string&)>& id_of);

/// The lines of a vocab.txt without the white space at their ends.
std::vector<std::string> lines_of(std::span<const std::byte> vocabulary);

/// bert_json, read.
TokenizerSpec read_bert_pieces(const std::vector<std::string>& pieces, const nlohmann::json& config,
                               const std::string& where, const std::string& config_where);

}  // namespace mote::convert
