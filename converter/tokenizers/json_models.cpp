// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

using nlohmann::json;

class JsonModel {
 public:
  JsonModel(const JsonValues& values, const json& root, TokenizerDraft& draft)
      : values_(values), root_(root), model_(values.object(root, "model")), draft_(draft) {}

  void read() {
    const std::string type = type_of_model();
    if (type == "Unigram") {
      read_scored_vocabulary();
    } else {
      read_vocabulary();
    }
    if (draft_.ids.empty()) values_.refuse("the vocabulary is empty");
    read_added();
    if (type == "BPE") {
      read_bpe();
    } else if (type == "WordPiece") {
      read_wordpiece();
    } else {
      read_unigram();
    }
  }

 private:
  /// Old files do not say it.
  std::string type_of_model() const {
    const bool has_scores = model_.contains("vocab") && model_["vocab"].is_array();
    const std::string type = model_.contains("type")     ? values_.text(model_, "type")
                             : model_.contains("merges") ? "BPE"
                             : has_scores                ? "Unigram"
                                                         : "WordPiece";
    if (type != "BPE" && type != "WordPiece" && type != "Unigram") {
      values_.refuse("tokenizer model '{}' is not supported", shown(type));
    }
    return type;
  }

  // ---- Vocabulary ----

  void put_token(uint32_t id, const std::string& token) {
    if (id >= draft_.vocabulary.size()) draft_.vocabulary.resize(id + 1);
    draft_.vocabulary[id] = token;
  }

  void read_vocabulary() {
    for (const auto& [token, id] : values_.object(model_, "vocab").items()) {
      draft_.ids[token] = values_.token_id(id, "vocab: " + token);
      put_token(draft_.ids[token], token);
    }
  }

  void read_scored_vocabulary() {
    for (const json& entry : values_.list(model_, "vocab")) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
        values_.refuse_value("vocab", &entry, "a text and a score");
      }
      const uint32_t id = values_.token_id(draft_.vocabulary.size(), "vocab: size");
      put_token(id, entry[0].get<std::string>());
      draft_.ids[draft_.vocabulary[id]] = id;
      draft_.spec.scores.push_back(entry[1].get<double>());
    }
  }

  void read_added() {
    if (values_.find(root_, "added_tokens") == nullptr) return;
    for (const json& entry : values_.list(root_, "added_tokens")) {
      if (!entry.is_object()) values_.refuse_value("added_tokens", &entry, "an object");
      AddedTokenSpec token;
      token.text = values_.text(entry, "content");
      const json* id = values_.find(entry, "id");
      if (id == nullptr) values_.refuse_value("id", id, "a token id");
      token.id = values_.token_id(*id, "id");
      const bool special = values_.flag(entry, "special", false);
      token.flags = (special ? kAddedSpecial : 0u) |
                    (values_.flag(entry, "lstrip", false) ? kAddedLeftStrip : 0u) |
                    (values_.flag(entry, "rstrip", false) ? kAddedRightStrip : 0u) |
                    (values_.flag(entry, "single_word", false) ? kAddedSingleWord : 0u);
      token.normalized = values_.flag(entry, "normalized", !special);
      if (token.text.empty()) continue;  // found nowhere
      put_token(token.id, token.text);
      draft_.spec.added.push_back(std::move(token));
    }
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = draft_.ids.find(token);
    if (found == draft_.ids.end()) values_.refuse("'{}' is not in the vocabulary", shown(token));
    return found->second;
  }

  void read_unknown() {
    if (values_.find(model_, "unk_token") == nullptr) return;
    draft_.spec.unknown_id = static_cast<int32_t>(id_of(values_.text(model_, "unk_token")));
  }

  /// Ids of the tokens for bytes as `text_of` writes them, -1 where there is none.
  template <class TextOf>
  std::vector<int32_t> find_bytes(const TextOf& text_of) const {
    std::vector<int32_t> result;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const auto found = draft_.ids.find(text_of(static_cast<uint8_t>(byte)));
      result.push_back(found == draft_.ids.end() ? -1 : static_cast<int32_t>(found->second));
    }
    return result;
  }
  static std::string fallback_token(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

  // ---- BPE ----

  void read_bpe() {
    const auto prefix = model_.find("continuing_subword_prefix");
    if (prefix != model_.end() && !prefix->is_null() && *prefix != "") {
      values_.refuse("tokenizer model 'BPE' with 'continuing_subword_prefix' is not supported");
    }
    if (const auto dropout = model_.find("dropout");
        dropout != model_.end() && dropout->is_number() && dropout->get<double>() != 0) {
      values_.refuse("tokenizer model 'BPE' with 'dropout' gives other ids each time");
    }
    read_unknown();
    draft_.spec.fuse_unknown = values_.flag(model_, "fuse_unk", false);
    read_symbols(values_.flag(model_, "byte_fallback", false));
    read_merges(values_.list(model_, "merges"));
    if (!values_.flag(model_, "ignore_merges", false)) return;
    if (!draft_.byte_level) {
      values_.refuse("tokenizer model 'BPE' with 'ignore_merges' is supported on bytes only");
    }
    for (const auto& [token, id] : draft_.ids) draft_.spec.whole_words.push_back(id);
  }

  void read_symbols(bool byte_fallback) {
    const std::string end = values_.text(model_, "end_of_word_suffix", "");
    const bool has_suffix = !end.empty();
    if (draft_.byte_level) {
      draft_.spec.byte_ids = find_bytes(byte_sign);
      if (!has_suffix) return;
      draft_.spec.last_byte_ids = find_bytes([&](uint8_t byte) { return byte_sign(byte) + end; });
      return;
    }
    if (has_suffix) {
      values_.refuse("tokenizer model 'BPE' with 'end_of_word_suffix' is supported on bytes only");
    }
    for (const auto& [token, id] : draft_.ids) {
      if (const auto character = single_character(token)) draft_.spec.characters[*character] = id;
    }
    if (draft_.spec.characters.empty()) values_.refuse("the vocabulary has no single characters");
    if (!byte_fallback) return;
    draft_.spec.byte_ids = find_bytes(fallback_token);
    const auto missing = std::find(draft_.spec.byte_ids.begin(), draft_.spec.byte_ids.end(), -1);
    if (missing != draft_.spec.byte_ids.end()) {
      values_.refuse("the vocabulary has no token for byte {}", missing - draft_.spec.byte_ids.begin());
    }
  }

  void read_merges(const json& merges) {
    uint32_t rank = 0;
    for (const json& merge : merges) {
      std::string left, right;
      if (merge.is_string()) {
        const std::string line = merge.get<std::string>();
        const size_t space = line.find(' ');
        if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos) {
          // A copy of a file that lost its no-break spaces has merges of spaces, which name no pair; they
          // matter only where spaces reach the model.
          if (space != std::string::npos && replaces_spaces()) continue;
          values_.refuse_value("merges", &merge, "two tokens");
        }
        left = line.substr(0, space);
        right = line.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        values_.refuse_value("merges", &merge, "two tokens");
      }
      draft_.spec.merges.push_back({id_of(left), id_of(right), id_of(left + right), rank++});
    }
  }

  bool replaces_spaces() const {
    return std::any_of(draft_.spec.replacements.begin(), draft_.spec.replacements.end(),
                       [](const auto& replacement) { return replacement.first == " "; });
  }

  // ---- Pieces ----

  void read_wordpiece() {
    draft_.spec.model = ModelSpec::wordpiece;
    read_unknown();
    if (draft_.spec.unknown_id < 0) values_.refuse("tokenizer model 'WordPiece' without 'unk_token'");
    const auto prefix = model_.find("continuing_subword_prefix");
    draft_.spec.continuing_prefix =
        prefix == model_.end() ? "##" : values_.text(model_, "continuing_subword_prefix");
    draft_.spec.word_characters = values_.number(model_, "max_input_chars_per_word", 100);
    read_pieces();
  }

  void read_unigram() {
    constexpr double kUnknownPenalty = 10;
    draft_.spec.model = ModelSpec::unigram;
    draft_.spec.fuse_unknown = true;
    const uint32_t unknown = values_.number(model_, "unk_id", std::numeric_limits<uint32_t>::max());
    const std::vector<double>& scores = draft_.spec.scores;
    if (unknown >= scores.size()) values_.refuse("tokenizer model 'Unigram' without 'unk_id'");
    draft_.spec.unknown_id = static_cast<int32_t>(unknown);
    draft_.spec.unknown_score = *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty;
    if (values_.flag(model_, "byte_fallback", false)) {
      draft_.spec.byte_ids = find_bytes(fallback_token);
      const bool all = std::count(draft_.spec.byte_ids.begin(), draft_.spec.byte_ids.end(), -1) == 0;
      if (!all) draft_.spec.byte_ids.clear();  // as Hugging Face has it: then none is used
    }
    read_pieces();
  }

  void read_pieces() {
    for (const auto& [token, id] : draft_.ids) {
      if (!token.empty()) draft_.spec.pieces[token] = id;
    }
    if (draft_.spec.pieces.empty()) values_.refuse("the vocabulary is empty");
  }

  const JsonValues& values_;
  const json& root_;
  const json& model_;
  TokenizerDraft& draft_;
};

}  // namespace

void read_token_model(const JsonValues& values, const json& root, TokenizerDraft& draft) {
  JsonModel(values, root, draft).read();
}

}  // namespace mote::convert
