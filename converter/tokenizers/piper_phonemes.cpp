// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a Piper voice: characters of phonemes, decomposed, each followed by a blank, between signs of
// the begin and the end. Characters that the voice does not know are left out, as Piper leaves them.
#include "converter/readers/piper_voice.h"
#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/regex.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr char32_t kTokenCharacter = 0xE000;  // characters for private use stand for tokens
constexpr uint32_t kMostPhonemeTokens = 4096;
constexpr const char *kBlankSign = "_", *kBeginSign = "^", *kEndSign = "$";

class PiperPhonemes {
 public:
  explicit PiperPhonemes(const std::filesystem::path& path)
      : values_(path.string()), config_(read_json_object(path, kTokenizerJsonDepth)) {}

  TokenizerSpec read() {
    const std::string type = values_.text(config_, "phoneme_type", "espeak");
    if (type != "espeak" && type != "text")
      values_.refuse("phoneme_type is {}: texts are to become phonemes in a way that mote lacks", type);
    for (const char* key : {"phoneme_map", "vowel_clusters"}) {
      if (const auto found = config_.find(key); found != config_.end() && !found->empty())
        values_.refuse("{} is not empty: phonemes are to be replaced, which mote cannot", key);
    }
    const json& map = config_.at("phoneme_id_map");
    for (const auto& [phoneme, list] : map.items()) ids_[phoneme] = ids_of(phoneme, list);
    std::map<uint32_t, std::u32string> texts;
    for (const auto& [phoneme, ids] : ids_) {
      const std::vector<uint32_t> characters = code_points(phoneme);
      if (characters.size() != 1)
        values_.refuse("phoneme_id_map has '{}', which is not one character", phoneme);
      std::u32string& text = texts[characters[0]];
      for (const int32_t id : ids) text += character_of(id, phoneme);
      for (const int32_t id : ids_of(kBlankSign)) text += character_of(id, kBlankSign);
    }
    spec_.normalizers.push_back(canonical_form(false, false));
    add_map(spec_.normalizers, CharacterMap().set_each([&](uint32_t c) {
      const auto found = texts.find(c);
      return found == texts.end() ? std::u32string() : found->second;
    }));
    spec_.single.before = ids_of(kBeginSign);
    for (const int32_t id : ids_of(kBlankSign)) spec_.single.before.push_back(id);
    spec_.single.after = ids_of(kEndSign);
    spec_.no_pairs = true;
    return std::move(spec_);
  }

 private:
  std::vector<int32_t> ids_of(const std::string& phoneme, const json& list) const {
    if (!list.is_array() || list.empty()) values_.refuse_value("phoneme_id_map", &list, "lists of token ids");
    std::vector<int32_t> ids;
    for (const json& id : list) {
      ids.push_back(static_cast<int32_t>(values_.token_id(id, phoneme)));
      if (ids.back() >= static_cast<int32_t>(kMostPhonemeTokens))
        values_.refuse("phoneme_id_map has the id {} for '{}'", ids.back(), phoneme);
    }
    return ids;
  }
  const std::vector<int32_t>& ids_of(const char* phoneme) const {
    const auto found = ids_.find(phoneme);
    if (found == ids_.end()) values_.refuse("phoneme_id_map has no '{}'", phoneme);
    return found->second;
  }

  /// Returns the character that stands for a token.
  char32_t character_of(int32_t id, const std::string& text) {
    const auto index = static_cast<uint32_t>(id);
    if (index >= spec_.tokens.size()) spec_.tokens.resize(index + 1);
    if (spec_.tokens[index].text.empty()) spec_.tokens[index].text = text;
    spec_.characters[kTokenCharacter + index] = index;
    return kTokenCharacter + index;
  }

  JsonValues values_;
  json config_;
  std::map<std::string, std::vector<int32_t>> ids_;
  TokenizerSpec spec_;
};

}  // namespace

TokenizerSpec read_piper_phonemes(const Source& source) { return PiperPhonemes(source.config_path).read(); }

}  // namespace mote::convert
