// SPDX-License-Identifier: Apache-2.0
//
// GGUF's tokenizer.ggml.* keys: "gpt2" is byte-level BPE whose pre-tokenizer is known by name only, "llama"
// is SentencePiece's BPE with scores in place of merges, both as llama.cpp runs them, and "gemma4" the same
// with merges; "bert" is WordPiece, of which GGUF keeps the pieces alone, and "t5" Unigram.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "converter/readers/gguf_file.h"
#include "converter/tokenizers/gguf_pre_tokenizers.h"
#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/split_rewrites.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

enum TokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

class GgufTokenizer {
 public:
  GgufTokenizer(const GgufFile& file, const std::string& where) : file_(file), where_(where) {}

  std::optional<TokenizerSpec> read() {
    if (find("model") == nullptr) return std::nullopt;
    const std::string model = text("model", "");
    if (model == "no_vocab" || model == "none") return std::nullopt;
    read_tokens();
    if (model == "gpt2") {
      read_byte_level();
    } else if (model == "llama" || model == "gemma4") {
      read_sentence_piece(model == "gemma4");
    } else if (model == "bert") {
      read_word_pieces();
    } else if (model == "t5") {
      read_unigram();
      return std::move(spec_);
    } else {
      refuse("tokenizer model '{}' is not supported", shown(model));
    }
    read_added();
    return std::move(spec_);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {} (mote convert --no-tokenizer leaves the text out)", where_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  // ---- Values ----

  const GgufValue* find(const std::string& key) const {
    const auto found = file_.metadata.find("tokenizer.ggml." + key);
    return found == file_.metadata.end() ? nullptr : &found->second;
  }
  std::string text(const std::string& key, const char* otherwise) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return otherwise;
    if (const auto* string = std::get_if<std::string_view>(value)) return std::string(*string);
    refuse("tokenizer.ggml.{} is not a string", key);
  }
  bool flag(const std::string& key, bool otherwise) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return otherwise;
    if (const auto* given = std::get_if<bool>(value)) return *given;
    refuse("tokenizer.ggml.{} is not true or false", key);
  }
  /// A token id, -1 if there is none.
  int32_t token(const std::string& key) const {
    const GgufValue* value = find(key);
    const auto* id = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    if (id == nullptr || *id < 0 || static_cast<uint64_t>(*id) >= vocabulary_.size()) return -1;
    return static_cast<int32_t>(*id);
  }
  const GgufArray* array(const std::string& key, GgufType type, GgufType other_type) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return nullptr;
    const auto* list = std::get_if<GgufArray>(value);
    if (list == nullptr || (list->type != type && list->type != other_type)) {
      refuse("tokenizer.ggml.{} is not a list of the expected kind", key);
    }
    return list;
  }
  std::vector<std::string> strings(const std::string& key) const {
    const GgufArray* list = array(key, GgufType::string, GgufType::string);
    if (list == nullptr) refuse("tokenizer.ggml.{} is missing", key);
    std::vector<std::string> result;
    const std::byte* at = list->bytes.data();
    for (uint64_t i = 0; i < list->count; ++i) {
      const auto size = load<uint64_t>(at);
      result.emplace_back(reinterpret_cast<const char*>(at + 8), size);
      at += 8 + size;
    }
    return result;
  }

  // ---- Vocabulary ----

  void read_tokens() {
    vocabulary_ = strings("tokens");
    if (vocabulary_.empty()) refuse("the vocabulary is empty");
    types_.assign(vocabulary_.size(), kNormal);
    if (const GgufArray* types = array("token_type", GgufType::i32, GgufType::u32)) {
      if (types->count != types_.size()) refuse("{} token types of {} tokens", types->count, types_.size());
      std::copy_n(reinterpret_cast<const std::byte*>(types->bytes.data()), types->bytes.size(),
                  reinterpret_cast<std::byte*>(types_.data()));
    }
    spec_.tokens.resize(vocabulary_.size());
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      if (is_text(id)) ids_.emplace(vocabulary_[id], id);
    }
  }

  /// Says whether text can become the token by merging.
  bool is_text(uint32_t id) const {
    return types_[id] == kNormal || types_[id] == kUserDefined || types_[id] == kUnused;
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) refuse("'{}' is not in the vocabulary", shown(token));
    return found->second;
  }

  /// Adds the tokens that are cut out of texts, but those that are there.
  void read_added() {
    std::set<uint32_t> there;
    for (const AddedTokenSpec& token : spec_.added) there.insert(token.id);
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      const bool special = types_[id] == kControl || types_[id] == kUnknown;
      if (special) spec_.tokens[id].flags |= kTokenSpecial;
      if ((special || types_[id] == kUserDefined) && !vocabulary_[id].empty() && there.count(id) == 0) {
        spec_.added.push_back({vocabulary_[id], id, special ? uint32_t{kAddedSpecial} : 0u, false});
      }
    }
  }

  void read_template(bool bos, bool eos) {
    if (flag("add_bos_token", bos) && token("bos_token_id") >= 0)
      spec_.single.before = {token("bos_token_id")};
    if (flag("add_eos_token", eos) && token("eos_token_id") >= 0)
      spec_.single.after = {token("eos_token_id")};
  }

  // ---- Byte-level BPE ----

  void read_byte_level() {
    const std::string name = text("pre", "default");
    const GgufPreTokenizer* pre = find_gguf_pre_tokenizer(name);
    if (pre == nullptr) refuse("pre-tokenizer '{}' is not known", shown(name));
    for (const std::string& expression : pre->expressions) spec_.splits.push_back({parse_regex(expression)});
    fuse_splits(spec_.splits, 0);
    if (pre->composes) spec_.normalizers.push_back(canonical_form(false, true));
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const auto found = ids_.find(byte_sign(static_cast<uint8_t>(byte)));
      spec_.byte_ids.push_back(found == ids_.end() ? -1 : static_cast<int32_t>(found->second));
    }
    read_merges();
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      spec_.tokens[id].text = types_[id] == kNormal ? from_byte_signs(vocabulary_[id]) : vocabulary_[id];
      if (pre->whole_words && types_[id] == kNormal) spec_.whole_words.push_back(id);
    }
    read_template(pre->add_bos, false);
  }

  void read_merges() {
    uint32_t rank = 0;
    for (const std::string& merge : strings("merges")) {
      const size_t space = merge.find(' ', 1);
      if (space == std::string::npos) refuse("merge '{}' is not two tokens", shown(merge));
      const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
      spec_.merges.push_back({id_of(left), id_of(right), id_of(left + right), rank++});
    }
  }

  // ---- WordPiece ----

  /// GGUF marks the pieces that start words, where BERT marks the others.
  std::vector<std::string> pieces_of_bert() const {
    const std::string start = kSpaceSign;
    std::vector<std::string> pieces;
    for (const std::string& token : vocabulary_) {
      const bool bracketed = token.size() > 1 && token.front() == '[' && token.back() == ']';
      const bool starts = token.compare(0, start.size(), start) == 0;
      const bool whole = bracketed || types_[pieces.size()] == kControl;
      pieces.push_back(starts ? token.substr(start.size()) : whole ? token : "##" + token);
    }
    return pieces;
  }

  void read_word_pieces() {
    const std::vector<std::string> pieces = pieces_of_bert();
    nlohmann::json settings = nlohmann::json::object();
    constexpr std::pair<const char*, const char*> kTokens[] = {{"unknown_token_id", "unk_token"},
                                                               {"cls_token_id", "cls_token"},
                                                               {"seperator_token_id", "sep_token"},
                                                               {"padding_token_id", "pad_token"},
                                                               {"mask_token_id", "mask_token"}};
    for (const auto& [key, name] : kTokens) {
      if (const int32_t id = token(key); id >= 0) settings[name] = pieces[static_cast<size_t>(id)];
    }
    if (find("normalizer.lowercase") != nullptr)
      settings["do_lower_case"] = flag("normalizer.lowercase", true);
    if (find("normalizer.strip_accents") != nullptr)
      settings["strip_accents"] = flag("normalizer.strip_accents", true);
    spec_ = read_bert_pieces(pieces, settings, where_, where_);
    vocabulary_ = pieces;
  }

  // ---- SentencePiece BPE ----

  void read_sentence_piece(bool by_merges) {
    const std::string space = kSpaceSign;
    spec_.replacements = {{" ", space}};
    const bool prefix = flag("add_space_prefix", !by_merges);
    if (prefix) spec_.segment_prefix = space;
    spec_.strip_spaces = prefix ? 1 : 0;
    spec_.unknown_id = token("unknown_token_id");
    std::vector<int32_t> bytes(256, -1);
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      TokenSpec& token = spec_.tokens[id];
      token.text = replace_all(vocabulary_[id], space, " ");
      const auto byte = byte_of_token(vocabulary_[id]);
      if (types_[id] == kByte && byte) {
        token = {std::string(1, static_cast<char>(*byte)), kTokenByte};
        bytes[*byte] = static_cast<int32_t>(id);
      }
      if (const auto character = single_character(vocabulary_[id]); character && is_text(id)) {
        spec_.characters.emplace(*character, id);
      }
    }
    if (spec_.characters.empty()) refuse("the vocabulary has no single characters");
    if (std::count(bytes.begin(), bytes.end(), -1) != 256) spec_.byte_ids = bytes;
    if (by_merges) {
      read_merges();
    } else {
      read_scores();
    }
    split_at_sign(spec_, vocabulary_, space);
    read_template(true, false);
  }

  std::vector<float> scores_of_tokens() const {
    const GgufArray* list = array("scores", GgufType::f32, GgufType::f32);
    if (list == nullptr || list->count != vocabulary_.size()) refuse("scores are missing");
    std::vector<float> scores(vocabulary_.size());
    std::copy_n(list->bytes.data(), list->bytes.size(), reinterpret_cast<std::byte*>(scores.data()));
    if (std::any_of(scores.begin(), scores.end(), [](float score) { return std::isnan(score); })) {
      refuse("a score is not a number");
    }
    return scores;
  }

  /// Files that are made of a tokenizer.json have one score for all tokens, which then stand in the order of
  /// the merges.
  void order_equal(std::vector<float>& scores) const {
    std::optional<float> first;
    for (uint32_t id = 0; id < scores.size(); ++id) {
      if (types_[id] != kNormal) continue;
      if (first && scores[id] != *first) return;
      first = scores[id];
    }
    for (uint32_t id = 0; id < scores.size(); ++id) scores[id] = -static_cast<float>(id);
  }

  /// A token may be merged from any two that make it up; the token of the higher score goes first.
  void read_scores() {
    std::vector<float> scores = scores_of_tokens();
    order_equal(scores);
    std::vector<float> ordered = scores;
    std::sort(ordered.begin(), ordered.end(), std::greater<>());
    ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
    for (const auto& [token, id] : ids_) {
      const auto rank = std::lower_bound(ordered.begin(), ordered.end(), scores[id], std::greater<>());
      for (size_t at = 1; at < token.size(); ++at) {
        if ((static_cast<uint8_t>(token[at]) & 0xC0) == 0x80) continue;
        charge_work(token.size());
        const auto left = ids_.find(token.substr(0, at)), right = ids_.find(token.substr(at));
        if (left == ids_.end() || right == ids_.end()) continue;
        spec_.merges.push_back(
            {left->second, right->second, id, static_cast<uint32_t>(rank - ordered.begin())});
      }
    }
  }

  // ---- Unigram ----

  std::string character_map() const {
    const GgufArray* list = array("precompiled_charsmap", GgufType::u8, GgufType::i8);
    if (list == nullptr) return "";
    return {reinterpret_cast<const char*>(list->bytes.data()), list->bytes.size()};
  }

  nlohmann::json metaspace() const {
    return {{"type", "Metaspace"},
            {"replacement", kSpaceSign},
            {"prepend_scheme", flag("add_space_prefix", true) ? "always" : "never"},
            {"split", true}};
  }

  /// The tokens around texts, as Hugging Face has them: T5's end, or RoBERTa's start and ends.
  nlohmann::json unigram_template() const {
    const int32_t begin = flag("add_bos_token", false) ? token("bos_token_id") : -1;
    const int32_t end = flag("add_eos_token", true) ? token("eos_token_id") : -1;
    const auto named = [&](int32_t id) { return vocabulary_[static_cast<size_t>(id)]; };
    TextSigns signs;
    if (begin >= 0) signs.before = {named(begin)};
    if (end >= 0) signs.after = {named(end)};
    signs.between.assign(end < 0 ? 0 : begin < 0 ? 1 : 2, end < 0 ? "" : named(end));
    return template_json(signs, [&](const std::string& text) {
      return static_cast<uint32_t>(begin >= 0 && text == named(begin) ? begin : end);
    });
  }

  /// Reads the vocabulary as the tokenizer.json that transformers makes of it.
  void read_unigram() {
    using nlohmann::json;
    const std::vector<float> scores = scores_of_tokens();
    json vocabulary = json::array(), added = json::array(), cutting = json::array();
    int32_t unknown = token("unknown_token_id");
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      const bool special = types_[id] == kControl || types_[id] == kUnknown;
      if (unknown < 0 && types_[id] == kUnknown) unknown = static_cast<int32_t>(id);
      if (!std::isfinite(scores[id])) refuse("the score of token {} is infinite", id);
      vocabulary.push_back({vocabulary_[id], double{scores[id]}});
      if ((special || types_[id] == kUserDefined) && !vocabulary_[id].empty())
        added.push_back({{"id", id},
                         {"content", vocabulary_[id]},
                         {"special", special},
                         {"normalized", false},
                         {"lstrip", static_cast<int64_t>(id) == token("mask_token_id")}});
    }
    if (unknown < 0) refuse("no token is the unknown one");
    // Whatever remove_extra_whitespaces says: the writer has it of an option of decoding.
    cutting.push_back({{"type", "WhitespaceSplit"}});
    cutting.push_back(metaspace());
    const json root = {{"added_tokens", added},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", cutting}}},
                       {"model", {{"type", "Unigram"}, {"unk_id", unknown}, {"vocab", vocabulary}}},
                       {"post_processor", unigram_template()},
                       {"decoder", metaspace()}};
    spec_ = read_tokenizer_json(root, where_);
    if (const std::string map = character_map(); !map.empty())
      spec_.normalizers.insert(spec_.normalizers.begin(), precompiled_map(map));
  }

  const GgufFile& file_;
  const std::string& where_;
  TokenizerSpec spec_;
  std::vector<std::string> vocabulary_;
  std::vector<int32_t> types_;
  std::unordered_map<std::string, uint32_t> ids_;  // of tokens that text can become
};

}  // namespace

std::optional<TokenizerSpec> read_gguf_tokenizer(std::span<const std::byte> file, const std::string& where) {
  const GgufFile parsed = parse_gguf(file, where);
  return GgufTokenizer(parsed, where).read();
}

}  // namespace mote::convert
