// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/base64.h"

namespace mote::convert {
namespace {

using nlohmann::json;

/// SentencePiece's nmt rules.
CharacterMap nmt_map() {
  CharSet dropped, spaces;
  dropped.add(0x01, 0x08).add(0x0B, 0x0B).add(0x0E, 0x1F).add(0x7F, 0x7F).add(0x8F, 0x8F).add(0x9F, 0x9F);
  spaces.add(0x09, 0x0A).add(0x0C, 0x0D).add(0x1680, 0x1680).add(0x200B, 0x200F).add(0x2028, 0x2029);
  spaces.add(0x2581, 0x2581).add(0xFEFF, 0xFEFF).add(0xFFFD, 0xFFFD);
  return CharacterMap().set(dropped, U"").set(spaces, U" ");
}

std::u32string characters_of(const std::string& utf8) {
  std::u32string text;
  for (const uint32_t c : code_points(utf8)) text += static_cast<char32_t>(c);
  return text;
}

class JsonNormalizers {
 public:
  JsonNormalizers(const JsonValues& values, TokenizerSpec& spec) : values_(values), spec_(spec) {}

  /// Those that put texts in place of texts are done while the text is copied, if there are no others.
  void read(const std::vector<json>& parts) {
    const bool simple = std::all_of(parts.begin(), parts.end(), [&](const json& part) {
      const std::string type = values_.text(part, "type");
      return type == "Prepend" || (type == "Replace" && !pattern_of(part).contains("Regex"));
    });
    for (const json& part : parts) {
      if (simple) {
        read_simple(part);
      } else {
        read_step(part);
      }
    }
  }

 private:
  const json& pattern_of(const json& part) const { return values_.object(part, "pattern"); }

  void read_simple(const json& part) {
    if (values_.text(part, "type") == "Prepend") {
      if (!spec_.segment_prefix.empty()) values_.refuse("more than one Prepend normalizer");
      spec_.segment_prefix = values_.text(part, "prepend");
    } else {
      add_replacement(values_, values_.text(pattern_of(part), "String"), values_.text(part, "content"),
                      spec_);
    }
  }

  void read_step(const json& part) {
    const std::string type = values_.text(part, "type");
    std::vector<NormalizerSpec>& steps = spec_.normalizers;
    if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      steps.push_back(canonical_form(type[2] == 'K', type.back() == 'C'));
    } else if (type == "Lowercase") {
      add_map(steps, CharacterMap().set_each(lower_case));
    } else if (type == "StripAccents") {
      add_map(steps, CharacterMap().set(mark_set(), U""));
    } else if (type == "Nmt") {
      add_map(steps, nmt_map());
    } else if (type == "BertNormalizer") {
      read_bert(part);
    } else if (type == "Precompiled") {
      read_precompiled(part);
    } else if (type == "Replace") {
      read_replace(part);
    } else if (type == "Strip") {
      NormalizerSpec step{NormalizerKind::strip, {}, {}, {}, {}};
      step.left = values_.flag(part, "strip_left", true);
      step.right = values_.flag(part, "strip_right", true);
      steps.push_back(step);
    } else if (type == "Prepend") {
      values_.refuse("normalizer 'Prepend' beside others than 'Replace' is not supported");
    } else {
      values_.refuse("normalizer '{}' is not supported", shown(type));
    }
  }

  void read_bert(const json& part) {
    BertOptions options;
    options.clean = values_.flag(part, "clean_text", true);
    options.spaced_ideographs = values_.flag(part, "handle_chinese_chars", true);
    options.lowercase = values_.flag(part, "lowercase", true);
    options.strip_accents = values_.flag(part, "strip_accents", options.lowercase);
    add_bert_steps(spec_.normalizers, options);
  }

  void read_precompiled(const json& part) {
    const auto found = part.find("precompiled_charsmap");
    if (found == part.end() || found->is_null()) return;
    const auto bytes = from_base64(values_.text(part, "precompiled_charsmap"));
    if (!bytes) values_.refuse("normalizer 'Precompiled': the map is not base64");
    if (!bytes->empty()) spec_.normalizers.push_back(precompiled_map(*bytes));
  }

  void read_replace(const json& part) {
    const json& pattern = pattern_of(part);
    const bool is_regex = pattern.contains("Regex");
    const std::string from = values_.text(pattern, is_regex ? "Regex" : "String");
    if (from.empty()) values_.refuse("a normalizer replaces nothing");
    NormalizerSpec step{NormalizerKind::replace,
                        {},
                        {},
                        is_regex ? parse_regex(from) : make_literal(from),
                        characters_of(values_.text(part, "content"))};
    const auto single = single_character(from);
    if (!is_regex && single) {
      add_map(spec_.normalizers, CharacterMap().set(CharSet::of(*single), step.content));
    } else {
      spec_.normalizers.push_back(step);
    }
  }

  const JsonValues& values_;
  TokenizerSpec& spec_;
};

}  // namespace

void read_normalizers(const JsonValues& values, const json& root, TokenizerDraft& draft) {
  JsonNormalizers(values, draft.spec).read(values.parts(root, "normalizer", "normalizers"));
}

void add_replacement(const JsonValues& values, const std::string& from, const std::string& to,
                     TokenizerSpec& spec) {
  auto& replacements = spec.replacements;
  if (std::find(replacements.begin(), replacements.end(), std::pair(from, to)) != replacements.end()) return;
  if (from.empty()) values.refuse("a normalizer replaces nothing");
  for (auto& [earlier_from, earlier_to] : replacements) {
    // A longer text could also come about where a replacement meets what stands beside it.
    if (!single_character(from)) {
      values.refuse("normalizers replace '{}' and, after that, '{}'", shown(earlier_from), shown(from));
    }
    earlier_to = replace_all(earlier_to, from, to);
  }
  replacements.emplace_back(from, to);
}

}  // namespace mote::convert
