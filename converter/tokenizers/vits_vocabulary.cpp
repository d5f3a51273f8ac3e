// SPDX-License-Identifier: Apache-2.0
//
// VITS's tokenizer: letters of a vocab.json, lowercase unless it has them so, between blanks, as
// transformers' VitsTokenizer has them. That cuts texts at its special tokens before it puts blanks around
// the letters; of a voice of MMS one of these is a letter, the blank itself.
#include <algorithm>
#include <set>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint32_t kBlankId = 0;
constexpr char32_t kPrivate = 0xE000;  // characters for private use stand for blanks and special tokens
constexpr char32_t kRomanianComma = 0x21B, kCedilla = 0x163;  // t with either below

class VitsVocabulary {
 public:
  VitsVocabulary(const SideFiles& side, const std::filesystem::path& path)
      : values_(path.string()), settings_(side.config_path()), side_(side) {
    const json vocabulary = read_json_object(path, kTokenizerJsonDepth);
    for (const auto& [text, id] : vocabulary.items()) add_token(text, values_.token_id(id, text));
    if (letters_.empty()) values_.refuse("the vocabulary has no letters");
    for (const TokenSpec& token : spec_.tokens)
      if (token.text.empty()) values_.refuse("the vocabulary has gaps between its ids");
  }

  TokenizerSpec read() {
    const json& config = side_.config();
    if (settings_.flag(config, "is_uroman", false))
      settings_.refuse("is_uroman is true: texts are to be romanized first, which mote cannot");
    if (settings_.flag(config, "phonemize", true))
      settings_.refuse("phonemize is true: texts are to become phonemes first, which mote cannot");
    if (!settings_.flag(config, "normalize", true)) settings_.refuse("normalize is false");
    add_map(spec_.normalizers, known_letters(settings_.text(config, "language", "") == "ron"));
    NormalizerSpec strip{NormalizerKind::strip, {}, {}, {}, {}};
    strip.left = strip.right = true;
    spec_.normalizers.push_back(strip);
    if (settings_.flag(config, "add_blank", true)) add_blanks();
    for (const auto& [letter, id] : letters_) spec_.characters.emplace(letter, id);
    spec_.no_pairs = true;
    return std::move(spec_);
  }

 private:
  void add_token(const std::string& text, uint32_t id) {
    if (id >= spec_.tokens.size()) spec_.tokens.resize(id + 1);
    spec_.tokens[id].text = text;
    if (const auto letter = single_character(text)) {
      letters_[*letter] = id;
      return;
    }
    // In longer tokens transformers keeps the case, wherever the tokens are in a text.
    for (const uint32_t c : code_points(text))
      if (lower_case(c) != std::u32string(1, c))
        values_.refuse("'{}' is no letter and not in lower case", text);
  }

  /// Every character as the letters that it stands for; none of what the vocabulary lacks.
  CharacterMap known_letters(bool romanian) const {
    return CharacterMap().set_each([&](uint32_t c) {
      std::u32string known;
      const bool kept = letters_.count(c) != 0;
      for (char32_t lower : kept ? std::u32string(1, c) : lower_case(c)) {
        if (romanian && lower == kRomanianComma) lower = kCedilla;
        if (letters_.count(lower) != 0) known += lower;
      }
      return known;
    });
  }

  static std::string content_of(const json& token) {
    return token.is_object() ? token.value("content", "") : token.is_string() ? token.get<std::string>() : "";
  }

  /// Letters at which a text is cut.
  std::set<uint32_t> special_letters() const {
    const json& config = side_.config();
    std::set<std::string> texts = {content_of(config.value("pad_token", json("<pad>"))),
                                   content_of(config.value("unk_token", json("<unk>")))};
    const json declared = config.value("added_tokens_decoder", json::object());
    for (const auto& [id, token] : declared.items()) texts.insert(content_of(token));
    std::set<uint32_t> letters;
    for (const std::string& text : texts) {
      const std::vector<uint32_t> characters = code_points(text);
      const bool can_be = !text.empty() && std::all_of(characters.begin(), characters.end(),
                                                       [&](uint32_t c) { return letters_.count(c) != 0; });
      if (can_be && characters.size() != 1)
        settings_.refuse("the special token '{}' is made of letters of the vocabulary", text);
      if (can_be) letters.insert(characters[0]);
    }
    return letters;
  }

  /// Each stretch of letters between special ones begins and ends with a blank and has one between two
  /// letters: around every letter, then one in place of two.
  void add_blanks() {
    std::set<uint32_t> special = special_letters();
    char32_t next = kPrivate;
    const auto private_character = [&](uint32_t id) {
      while (letters_.count(next) != 0) ++next;
      spec_.characters[next] = id;
      return next++;
    };
    const char32_t blank = private_character(kBlankId);
    CharacterMap map;
    for (const auto& [letter, id] : letters_) {
      const std::u32string text = special.count(letter) != 0
                                      ? std::u32string(1, private_character(id))
                                      : std::u32string{blank, static_cast<char32_t>(letter), blank};
      map.set(letter, text);
    }
    add_map(spec_.normalizers, map);
    const std::string two = utf8_of(blank) + utf8_of(blank);
    spec_.normalizers.push_back({NormalizerKind::replace, {}, {}, make_literal(two), {blank}});
  }

  JsonValues values_, settings_;
  const SideFiles& side_;
  std::map<uint32_t, uint32_t> letters_;  // ids
  TokenizerSpec spec_;
};

}  // namespace

TokenizerSpec read_vits_vocabulary(const SideFiles& side, const std::filesystem::path& path) {
  return VitsVocabulary(side, path).read();
}

}  // namespace mote::convert
