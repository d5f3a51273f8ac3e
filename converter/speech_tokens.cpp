// SPDX-License-Identifier: Apache-2.0
#include "converter/speech_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/readers/json_file.h"
#include "converter/readers/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kSpeechTokensDepth = 16;
constexpr uint32_t kLeastMultilingual = 51865;  // tokens of Whisper's models that know several languages

class SpeechTokens {
 public:
  SpeechTokens(const Source& source, const TokenizerSpec* tokenizer, uint32_t vocab)
      : generation_(
            source.directory.empty()
                ? json::object()
                : read_optional_json_object(source.directory / "generation_config.json", kSpeechTokensDepth)),
        config_(*source.config),
        file_((source.directory / "generation_config.json").string()),
        tokenizer_(tokenizer),
        vocab_(vocab) {}

  SpeechSpec read() {
    SpeechSpec speech;
    speech.no_timestamps = id_of("no_timestamps_token_id", {"<|notimestamps|>"});
    if (speech.no_timestamps >= 0 && static_cast<uint32_t>(speech.no_timestamps) + 1 < vocab_)
      speech.first_timestamp = speech.no_timestamps + 1;
    speech.previous = id_of("prev_sot_token_id", {"<|startofprev|>"});
    speech.no_speech = id_of("", {"<|nospeech|>", "<|nocaptions|>"});
    // The original knows silence by the token before the one for no timestamps.
    if (speech.no_speech < 0 && speech.no_timestamps > 0) speech.no_speech = speech.no_timestamps - 1;
    if (is_multilingual()) read_languages(speech);
    speech.suppressed = list("suppress_tokens", "suppress_ids");
    speech.suppressed_first = list("begin_suppress_tokens", "suppress_ids_begin");
    return speech;
  }

 private:
  /// Of the generation config, or of the first of the texts that is an added token; -1: none.
  int32_t id_of(const char* key, std::initializer_list<const char*> texts) const {
    const auto found = generation_.find(key);
    if (found != generation_.end() && !found->is_null()) return checked(*found, key);
    for (const char* text : texts) {
      const int32_t id = added(text);
      if (id >= 0) return id;
    }
    return -1;
  }
  int32_t checked(const json& value, const std::string& key) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= vocab_)
      file_.refuse_value(key, &value, "an id of the vocabulary");
    return value.get<int32_t>();
  }
  int32_t added(const std::string& text) const {
    if (tokenizer_ == nullptr) return -1;
    const auto same = std::find_if(tokenizer_->added.begin(), tokenizer_->added.end(),
                                   [&](const AddedTokenSpec& token) { return token.text == text; });
    return same != tokenizer_->added.end() && same->id < vocab_ ? static_cast<int32_t>(same->id) : -1;
  }
  bool is_multilingual() const {
    return file_.flag(generation_, "is_multilingual", vocab_ >= kLeastMultilingual);
  }

  static std::string code_of(const std::string& text) {
    const bool marked = text.size() > 4 && text.starts_with("<|") && text.ends_with("|>");
    return marked ? text.substr(2, text.size() - 4) : "";
  }

  /// Those that lang_to_id names, else the added tokens between the one that starts a text and the tasks.
  void read_languages(SpeechSpec& speech) const {
    speech.translate = added("<|translate|>");
    speech.transcribe = added("<|transcribe|>");
    const auto tasks = generation_.find("task_to_id");
    if (tasks != generation_.end() && tasks->is_object()) {
      for (const auto& [task, id] : tasks->items())
        (task == "translate" ? speech.translate : speech.transcribe) = checked(id, "task_to_id");
    }
    const auto languages = generation_.find("lang_to_id");
    if (languages != generation_.end() && languages->is_object()) {
      for (const auto& [text, id] : languages->items()) add(code_of(text), checked(id, "lang_to_id"), speech);
      return;
    }
    const int32_t start = added("<|startoftranscript|>");
    const int32_t end = std::min(speech.translate, speech.transcribe);
    for (const AddedTokenSpec& token :
         start < 0 || end < 0 ? std::vector<AddedTokenSpec>{} : tokenizer_->added) {
      const auto id = static_cast<int32_t>(token.id);
      if (id > start && id < end) add(code_of(token.text), id, speech);
    }
  }
  static void add(const std::string& code, int32_t id, SpeechSpec& speech) {
    if (code.empty()) return;
    speech.languages.push_back(code);
    speech.language_ids.push_back(id);
  }

  /// Of either config, where the second may have another name for it.
  std::vector<int32_t> list(const std::string& key, const std::string& other_key) const {
    const json* found = nullptr;
    for (const json* object : {&generation_, &config_}) {
      for (const std::string& name : {key, other_key}) {
        const auto at = object->find(name);
        if (found == nullptr && at != object->end() && at->is_array()) found = &*at;
      }
    }
    std::vector<int32_t> ids;
    if (found == nullptr) return ids;
    for (const json& id : *found) ids.push_back(checked(id, key));
    return ids;
  }

  json generation_;
  const json& config_;
  JsonFile file_;
  const TokenizerSpec* tokenizer_;
  uint32_t vocab_;
};

}  // namespace

SpeechSpec read_speech_tokens(const Source& source, const TokenizerSpec* tokenizer, uint32_t vocab) {
  return SpeechTokens(source, tokenizer, vocab).read();
}

}  // namespace mote::convert
