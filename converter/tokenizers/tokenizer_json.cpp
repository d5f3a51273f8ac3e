// SPDX-License-Identifier: Apache-2.0
//
// tokenizer.json of Hugging Face's tokenizers library: a normalizer, a pre-tokenizer, a model, a
// post-processor and a decoder, each of a type with its own keys.
#include <algorithm>
#include <unordered_map>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/readers/json_text.h"
#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/parts.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kDepth = 32;

class JsonTokenizer : private JsonValues {
 public:
  JsonTokenizer(const json& root, const std::string& where) : JsonValues(where), root_(root) {}

  TokenizerSpec read() {
    for (const json& part : parts(root_, "normalizer", "normalizers")) read_normalizer(part);
    for (const json& part : parts(root_, "pre_tokenizer", "pretokenizers")) read_pre_tokenizer(part);
    read_vocabulary();
    read_added();
    read_model();
    for (const json& part : parts(root_, "decoder", "decoders")) read_decoder(part);
    decode_tokens();
    for (const json& part : parts(root_, "post_processor", "processors")) read_post_processor(part);
    fuse_splits(spec_.splits);
    if (spec_.splits.empty() && !byte_level_) split_at_sign(spec_, vocabulary_, kSpaceSign);
    return std::move(spec_);
  }

 private:
  // ---- Normalizer ----

  void read_normalizer(const json& part) {
    const std::string type = text(part, "type");
    if (type == "Prepend") {
      if (!spec_.segment_prefix.empty()) refuse("more than one Prepend normalizer");
      spec_.segment_prefix = text(part, "prepend");
    } else if (type == "Replace") {
      const json& pattern = member(part, "pattern", json::value_t::object);
      if (!pattern.contains("String"))
        refuse("normalizer 'Replace' by a regular expression is not supported");
      add_replacement(text(pattern, "String"), text(part, "content"));
    } else {
      refuse("normalizer '{}' is not supported", shown(type));
    }
  }

  /// They are done in one pass, so what later ones make of an earlier one's text is worked out here.
  void add_replacement(const std::string& from, const std::string& to) {
    const auto same = std::find(spec_.replacements.begin(), spec_.replacements.end(), std::pair(from, to));
    if (same != spec_.replacements.end()) return;
    if (from.empty()) refuse("a normalizer replaces nothing");
    for (auto& [earlier_from, earlier_to] : spec_.replacements) {
      // A longer text could also come about where a replacement meets what stands beside it.
      if (!single_character(from)) {
        refuse("normalizers replace '{}' and, after that, '{}'", shown(earlier_from), shown(from));
      }
      earlier_to = replace_all(std::move(earlier_to), from, to);
    }
    spec_.replacements.emplace_back(from, to);
  }

  // ---- Pre-tokenizer ----

  void read_pre_tokenizer(const json& part) {
    const std::string type = text(part, "type");
    if (type == "ByteLevel") {
      byte_level_ = true;
      if (flag(part, "add_prefix_space", true)) set_piece_prefix(" ", PrefixSpec::unless_present);
      if (flag(part, "use_regex", true)) spec_.splits.push_back({parse_regex(kGpt2Words)});
    } else if (type == "Digits") {
      const RegexPtr digit = make_characters(category_set("N"));
      const bool single = flag(part, "individual_digits", false);
      spec_.splits.push_back({single ? digit : make_repeat(digit, 1, Regex::kUnlimited)});
    } else if (type == "Split") {
      read_split(part);
    } else if (type == "Metaspace") {
      read_metaspace(part);
    } else {
      refuse("pre-tokenizer '{}' is not supported", shown(type));
    }
  }

  void set_piece_prefix(const std::string& prefix, PrefixSpec rule) {
    if (!spec_.splits.empty() || !spec_.piece_prefix.empty()) {
      refuse("a pre-tokenizer that puts '{}' before each word is not supported", shown(prefix));
    }
    spec_.piece_prefix = prefix;
    spec_.piece_prefix_rule = rule;
  }

  void read_split(const json& part) {
    const json& pattern = member(part, "pattern", json::value_t::object);
    const RegexPtr regex = pattern.contains("Regex") ? parse_regex(text(pattern, "Regex"))
                                                     : make_literal(text(pattern, "String"));
    const std::string behavior = text(part, "behavior");
    const bool invert = flag(part, "invert", false);
    const bool one_class = regex->kind == Regex::Kind::characters && !invert;
    if (behavior == "Isolated") {
      spec_.splits.push_back({regex});
    } else if (behavior == "Removed") {
      spec_.splits.push_back({regex, invert, !invert});
    } else if (behavior == "Contiguous" && !invert) {
      spec_.splits.push_back({make_repeat(regex, 1, Regex::kUnlimited)});
    } else if (behavior == "MergedWithNext" && one_class) {
      spec_.splits.push_back({merged_with_next(regex)});
    } else if (behavior == "MergedWithPrevious" && one_class) {
      const RegexPtr others = make_characters(regex->set.complement());
      spec_.splits.push_back({make_choice({make_sequence({make_repeat(others, 0, Regex::kUnlimited), regex}),
                                           make_repeat(others, 1, Regex::kUnlimited)})});
    } else {
      refuse("pre-tokenizer 'Split' with behavior '{}' is not supported here", shown(behavior));
    }
  }

  static RegexPtr merged_with_next(const RegexPtr& character) {
    const RegexPtr others = make_characters(character->set.complement());
    return make_choice({make_sequence({character, make_repeat(others, 0, Regex::kUnlimited)}),
                        make_repeat(others, 1, Regex::kUnlimited)});
  }

  void read_metaspace(const json& part) {
    const std::string sign = text(part, "replacement");
    const auto code_point = single_character(sign);
    if (!code_point) refuse("pre-tokenizer 'Metaspace': '{}' is not one character", shown(sign));
    const std::string legacy = flag(part, "add_prefix_space", true) ? "always" : "never";
    const std::string scheme = part.contains("prepend_scheme") ? text(part, "prepend_scheme") : legacy;
    if (scheme != "never") {
      set_piece_prefix(sign,
                       scheme == "first" ? PrefixSpec::first_unless_present : PrefixSpec::unless_present);
    }
    add_replacement(" ", sign);
    if (flag(part, "split", true)) {
      spec_.splits.push_back({merged_with_next(make_characters(CharSet::of(*code_point)))});
    }
  }

  // ---- Vocabulary and model ----

  void put_token(uint32_t id, const std::string& token) {
    if (id >= vocabulary_.size()) vocabulary_.resize(id + 1);
    vocabulary_[id] = token;
  }

  void read_vocabulary() {
    const json& model = member(root_, "model", json::value_t::object);
    const std::string type = model.contains("type")     ? text(model, "type")
                             : model.contains("merges") ? "BPE"
                                                        : "";
    if (type != "BPE") refuse("tokenizer model '{}' is not supported", shown(type));
    for (const auto& [token, id] : member(model, "vocab", json::value_t::object).items()) {
      ids_[token] = token_id(id);
      put_token(token_id(id), token);
    }
    if (ids_.empty()) refuse("the vocabulary is empty");
  }

  void read_added() {
    const auto list = root_.find("added_tokens");
    if (list == root_.end() || list->is_null()) return;
    if (!list->is_array()) refuse("'added_tokens' is not a list");
    for (const json& entry : *list) {
      if (!entry.is_object()) refuse("an added token is not an object");
      AddedTokenSpec token;
      token.text = text(entry, "content");
      token.id = token_id(member(entry, "id", json::value_t::number_unsigned));
      const bool special = flag(entry, "special", false);
      token.flags = (special ? kAddedSpecial : 0u) | (flag(entry, "lstrip", false) ? kAddedLeftStrip : 0u) |
                    (flag(entry, "rstrip", false) ? kAddedRightStrip : 0u) |
                    (flag(entry, "single_word", false) ? kAddedSingleWord : 0u);
      token.normalized = flag(entry, "normalized", !special);
      if (token.text.empty()) continue;  // found nowhere
      put_token(token.id, token.text);
      spec_.added.push_back(std::move(token));
    }
  }

  void read_model() {
    const json& model = root_["model"];
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const auto found = model.find(key);
      if (found != model.end() && !found->is_null() && *found != "") {
        refuse("tokenizer model 'BPE' with '{}' is not supported", key);
      }
    }
    if (const auto dropout = model.find("dropout");
        dropout != model.end() && dropout->is_number() && dropout->get<double>() != 0) {
      refuse("tokenizer model 'BPE' with 'dropout' gives other ids each time");
    }
    const auto unknown = model.find("unk_token");
    if (unknown != model.end() && unknown->is_string())
      spec_.unknown_id = static_cast<int32_t>(id_of(*unknown));
    spec_.fuse_unknown = flag(model, "fuse_unk", false);
    read_symbols(flag(model, "byte_fallback", false));
    read_merges(member(model, "merges", json::value_t::array));
    if (!flag(model, "ignore_merges", false)) return;
    if (!byte_level_) refuse("tokenizer model 'BPE' with 'ignore_merges' is supported on bytes only");
    for (const auto& [token, id] : ids_) spec_.whole_words.push_back(id);
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) refuse("'{}' is not in the vocabulary", shown(token));
    return found->second;
  }

  void read_symbols(bool byte_fallback) {
    if (!byte_level_) {
      for (const auto& [token, id] : ids_) {
        if (const auto character = single_character(token)) spec_.characters[*character] = id;
      }
      if (spec_.characters.empty()) refuse("the vocabulary has no single characters");
      if (!byte_fallback) return;
    }
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const auto found =
          ids_.find(byte_level_ ? byte_sign(static_cast<uint8_t>(byte)) : fmt::format("<0x{:02X}>", byte));
      if (found == ids_.end() && !byte_level_) refuse("the vocabulary has no token for byte {}", byte);
      spec_.byte_ids.push_back(found == ids_.end() ? -1 : static_cast<int32_t>(found->second));
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
          refuse("merge '{}' is not two tokens", shown(line));
        }
        left = line.substr(0, space);
        right = line.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        refuse("a merge is not two tokens");
      }
      spec_.merges.push_back({id_of(left), id_of(right), id_of(left + right), rank++});
    }
  }

  bool replaces_spaces() const {
    return std::any_of(spec_.replacements.begin(), spec_.replacements.end(),
                       [](const auto& replacement) { return replacement.first == " "; });
  }

  // ---- Decoder ----

  void read_decoder(const json& part) {
    const std::string type = text(part, "type");
    decoder_known_ = true;
    if (type == "ByteLevel") {
      decodes_bytes_ = true;
    } else if (type == "Replace") {
      const json& pattern = member(part, "pattern", json::value_t::object);
      if (!pattern.contains("String")) refuse("decoder 'Replace' by a regular expression is not supported");
      decoded_replacements_.emplace_back(text(pattern, "String"), text(part, "content"));
    } else if (type == "ByteFallback") {
      decodes_fallback_ = true;
    } else if (type == "Strip") {
      if (text(part, "content") != " " || part.value("stop", 0u) != 0 ||
          part.value("start", 0u) > UINT8_MAX) {
        refuse("decoder 'Strip' of anything but spaces at the start is not supported");
      }
      spec_.strip_spaces = part.value("start", 0u);
    } else if (type == "Metaspace") {
      const std::string legacy = flag(part, "add_prefix_space", true) ? "always" : "never";
      decoded_replacements_.emplace_back(text(part, "replacement"), " ");
      spec_.strip_first_token =
          (part.contains("prepend_scheme") ? text(part, "prepend_scheme") : legacy) != "never";
    } else if (type != "Fuse") {
      refuse("decoder '{}' is not supported", shown(type));
    }
  }

  void decode_tokens() {
    if (!decoder_known_) refuse("it has no decoder");
    if (decodes_bytes_ != byte_level_) refuse("pre-tokenizer and decoder do not fit each other");
    spec_.tokens.resize(vocabulary_.size());
    for (size_t id = 0; id < vocabulary_.size(); ++id) {
      std::string token = decodes_bytes_ ? from_byte_signs(vocabulary_[id]) : vocabulary_[id];
      for (const auto& [from, to] : decoded_replacements_) token = replace_all(std::move(token), from, to);
      if (const auto byte = byte_of_token(token); byte && decodes_fallback_) {
        token = static_cast<char>(*byte);
        spec_.tokens[id].flags |= kTokenByte;
      }
      spec_.tokens[id].text = std::move(token);
    }
    for (const AddedTokenSpec& added : spec_.added) {
      if ((added.flags & kAddedSpecial) != 0) spec_.tokens[added.id].flags |= kTokenSpecial;
    }
  }

  // ---- Post-processor ----

  void read_post_processor(const json& part) {
    const std::string type = text(part, "type");
    if (type == "ByteLevel") {
      read_trimming(part);
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
      spec_.before_ids = {pair_id(part, "cls")};
      spec_.after_ids = {pair_id(part, "sep")};
      if (type == "RobertaProcessing") read_trimming(part);
    } else if (type == "TemplateProcessing") {
      read_template(part);
    } else {
      refuse("post-processor '{}' is not supported", shown(type));
    }
  }

  void read_trimming(const json& part) {
    spec_.trim_offsets = flag(part, "trim_offsets", true);
    spec_.trim_keeps_prefix = flag(part, "add_prefix_space", true);
  }

  int32_t pair_id(const json& part, const char* key) const {
    const json& pair = member(part, key, json::value_t::array);
    if (pair.size() != 2) refuse("'{}' is not a token and its id", key);
    return known_id(pair[1]);
  }

  int32_t known_id(const json& value) const {
    const uint32_t id = token_id(value);
    if (id >= vocabulary_.size()) refuse("the post-processor adds the unknown id {}", id);
    return static_cast<int32_t>(id);
  }

  void read_template(const json& part) {
    const json& tokens = member(part, "special_tokens", json::value_t::object);
    bool seen_text = false;
    for (const json& piece : member(part, "single", json::value_t::array)) {
      if (piece.is_object() && piece.contains("Sequence")) {
        if (seen_text) refuse("post-processor 'TemplateProcessing' repeats the text");
        seen_text = true;
        continue;
      }
      const json& token = member(piece, "SpecialToken", json::value_t::object);
      const json& entry = member(tokens, text(token, "id").c_str(), json::value_t::object);
      for (const json& id : member(entry, "ids", json::value_t::array)) {
        (seen_text ? spec_.after_ids : spec_.before_ids).push_back(known_id(id));
      }
    }
    if (!seen_text) refuse("post-processor 'TemplateProcessing' leaves the text out");
  }

  const json& root_;
  TokenizerSpec spec_;
  std::vector<std::string> vocabulary_;            // as written, by id
  std::unordered_map<std::string, uint32_t> ids_;  // of the model's own tokens
  std::vector<std::pair<std::string, std::string>> decoded_replacements_;
  bool byte_level_ = false;
  bool decoder_known_ = false, decodes_bytes_ = false, decodes_fallback_ = false;
};

}  // namespace

TokenizerSpec read_tokenizer_json(std::span<const std::byte> file, const std::string& where) {
  const json root = parse_json_object(file, where, kDepth);
  return JsonTokenizer(root, where).read();
}

}  // namespace mote::convert
