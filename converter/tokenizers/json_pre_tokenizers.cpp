// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/token_texts.h"

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/unicode_data.h"

namespace mote::convert {
namespace {

using nlohmann::json;

RegexPtr run_of(const CharSet& set) { return make_repeat(make_characters(set), 1, Regex::kUnlimited); }

RegexPtr merged_with_next(const CharSet& set) {
  const RegexPtr others = make_characters(set.complement());
  return make_choice({make_sequence({make_characters(set), make_repeat(others, 0, Regex::kUnlimited)}),
                      make_repeat(others, 1, Regex::kUnlimited)});
}

RegexPtr merged_with_previous(const CharSet& set) {
  const RegexPtr others = make_characters(set.complement());
  return make_choice({make_sequence({make_repeat(others, 0, Regex::kUnlimited), make_characters(set)}),
                      make_repeat(others, 1, Regex::kUnlimited)});
}

/// Says whether an expression can tell two characters apart.
bool tells_apart(const RegexPtr& regex, uint32_t a, uint32_t b) {
  const bool has_set = regex->kind == Regex::Kind::characters || regex->kind == Regex::Kind::not_ahead;
  if (has_set && regex->set.has(a) != regex->set.has(b)) return true;
  for (const RegexPtr& part : regex->parts) {
    if (tells_apart(part, a, b)) return true;
  }
  return false;
}

class JsonPreTokenizers {
 public:
  JsonPreTokenizers(const JsonValues& values, TokenizerDraft& draft)
      : values_(values), draft_(draft), splits_(draft.spec.splits) {}

  void read(const json& part) {
    const std::string type = values_.text(part, "type");
    if (type == "ByteLevel") {
      draft_.byte_level = true;
      if (values_.flag(part, "add_prefix_space", true)) set_prefix(" ", PrefixSpec::unless_present);
      if (values_.flag(part, "use_regex", true)) splits_.push_back({parse_regex(kGpt2Words)});
    } else if (type == "Digits") {
      const CharSet digits = category_set("N");
      const bool single = values_.flag(part, "individual_digits", false);
      splits_.push_back({single ? make_characters(digits) : run_of(digits)});
    } else if (type == "Split") {
      read_split(part);
    } else if (type == "Metaspace") {
      read_metaspace(part);
    } else if (type == "BertPreTokenizer") {
      remove_spaces();
      splits_.push_back({make_characters(punctuation_set())});
    } else if (type == "WhitespaceSplit") {
      remove_spaces();
    } else if (type == "Whitespace") {
      const CharSet word = regex_word_set();
      splits_.push_back(
          {make_choice({run_of(word), run_of((word | space_set()).complement())}), true, false});
      draft_.has_no_spaces = true;
    } else if (type == "Punctuation") {
      const std::string behavior = part.contains("behavior") ? values_.text(part, "behavior") : "Isolated";
      split_at(make_characters(punctuation_set()), behavior, false, type);
    } else if (type == "CharDelimiterSplit") {
      splits_.push_back({make_literal(values_.text(part, "delimiter")), false, true});
    } else {
      values_.refuse("pre-tokenizer '{}' is not supported", shown(type));
    }
  }

 private:
  void remove_spaces() {
    splits_.push_back({run_of(space_set()), false, true});
    draft_.has_no_spaces = true;
  }

  void set_prefix(const std::string& prefix, PrefixSpec rule) {
    if (!draft_.spec.piece_prefix.empty()) {
      values_.refuse("more than one pre-tokenizer that puts something before words");
    }
    draft_.spec.piece_prefix = prefix;
    draft_.spec.piece_prefix_rule = rule;
    draft_.spec.prefix_depth = static_cast<uint32_t>(splits_.size());
  }

  void read_split(const json& part) {
    const json& pattern = values_.object(part, "pattern");
    const RegexPtr regex = pattern.contains("Regex") ? parse_regex(values_.text(pattern, "Regex"))
                                                     : make_literal(values_.text(pattern, "String"));
    split_at(regex, values_.text(part, "behavior"), values_.flag(part, "invert", false), "Split");
  }

  void split_at(const RegexPtr& regex, const std::string& behavior, bool invert, const std::string& type) {
    const bool one_class = regex->kind == Regex::Kind::characters && !invert;
    if (behavior == "Isolated") {
      splits_.push_back({regex});
    } else if (behavior == "Removed") {
      splits_.push_back({regex, invert, !invert});
    } else if (behavior == "Contiguous" && !invert) {
      splits_.push_back({make_repeat(regex, 1, Regex::kUnlimited)});
    } else if (behavior == "MergedWithNext" && one_class) {
      splits_.push_back({merged_with_next(regex->set)});
    } else if (behavior == "MergedWithPrevious" && one_class) {
      splits_.push_back({merged_with_previous(regex->set)});
    } else {
      values_.refuse("pre-tokenizer '{}' with behavior '{}' is not supported here", type, shown(behavior));
    }
  }

  /// Spaces become signs in the whole text, so steps before this one must not mind.
  void read_metaspace(const json& part) {
    const std::string sign = values_.text(part, "replacement");
    const auto code_point = single_character(sign);
    if (!code_point) values_.refuse("pre-tokenizer 'Metaspace': '{}' is not one character", shown(sign));
    const std::string legacy = values_.flag(part, "add_prefix_space", true) ? "always" : "never";
    const std::string scheme =
        part.contains("prepend_scheme") ? values_.text(part, "prepend_scheme") : legacy;
    if (!draft_.has_no_spaces) {
      for (const SplitSpec& split : splits_) {
        if (tells_apart(split.regex, ' ', *code_point)) {
          values_.refuse("pre-tokenizer 'Metaspace' after one that cuts at spaces but keeps them");
        }
      }
      add_replacement(values_, " ", sign, draft_.spec);
    }
    if (scheme != "never") {
      set_prefix(sign, scheme == "first" ? PrefixSpec::first_unless_present : PrefixSpec::unless_present);
    }
    if (values_.flag(part, "split", true)) splits_.push_back({merged_with_next(CharSet::of(*code_point))});
  }

  const JsonValues& values_;
  TokenizerDraft& draft_;
  std::vector<SplitSpec>& splits_;
};

}  // namespace

void read_pre_tokenizers(const JsonValues& values, const json& root, TokenizerDraft& draft) {
  JsonPreTokenizers reader(values, draft);
  for (const json& part : values.parts(root, "pre_tokenizer", "pretokenizers")) reader.read(part);
}

}  // namespace mote::convert
