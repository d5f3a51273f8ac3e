// SPDX-License-Identifier: Apache-2.0
#include "converter/speech_tokens.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "converter/readers/generation_config.h"
#include "host/base/bytes.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kSpeechTokensDepth = 16;
constexpr uint32_t kTimestampFrames = 2;  // 20 ms
constexpr uint32_t kLatestFirst = 50;     // within a second, where the source does not say
constexpr uint32_t kMostTimestamps = 1 << 20, kMostHeads = 1 << 12;
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

  SpeechSettings read() {
    SpeechSettings speech;
    speech.no_timestamps = id_of("no_timestamps_token_id", {"<|notimestamps|>"});
    if (speech.no_timestamps >= 0 && static_cast<uint32_t>(speech.no_timestamps) + 1 < vocab_)
      speech.first_timestamp = speech.no_timestamps + 1;
    speech.previous = id_of("prev_sot_token_id", {"<|startofprev|>"});
    speech.no_speech = id_of("", {"<|nospeech|>", "<|nocaptions|>"});
    // The original knows silence by the token before the one for no timestamps.
    if (speech.no_speech < 0 && speech.no_timestamps > 0) speech.no_speech = speech.no_timestamps - 1;
    if (is_multilingual()) read_languages(speech);
    read_defaults(speech);
    speech.suppressed = list("suppress_tokens", "suppress_ids");
    speech.suppressed_first = list("begin_suppress_tokens", "suppress_ids_begin");
    speech.timestamp_frames = kTimestampFrames;
    speech.latest_first = latest_first();
    speech.alignment_heads = alignment_heads();
    return speech;
  }

 private:
  /// Returns the id of the generation config's key, or of the first of the texts that is an added token; -1:
  /// none.
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

  /// Returns how many timestamps behind that of 0 seconds a text may begin with.
  uint32_t latest_first() const {
    constexpr const char* kKey = "max_initial_timestamp_index";
    const json* value = file_.find(generation_, kKey);
    return value == nullptr ? kLatestFirst : static_cast<uint32_t>(file_.size(*value, kKey, kMostTimestamps));
  }

  /// Returns pairs of a layer of the decoder and a head of it; CTranslate2 has them in config.json.
  std::vector<uint32_t> alignment_heads() const {
    constexpr const char* kKey = "alignment_heads";
    const json* heads = file_.find(generation_, kKey);
    if (heads == nullptr) heads = file_.find(config_, kKey);
    std::vector<uint32_t> pairs;
    if (heads == nullptr) return pairs;
    const auto number_of = [&](const char* key, const char* other, uint64_t otherwise) {
      const json* found = file_.find(config_, key);
      if (found == nullptr) found = file_.find(config_, other);
      return found == nullptr ? otherwise : file_.size(*found, key, kMostHeads);
    };
    const uint64_t layers = number_of("decoder_layers", "num_hidden_layers", 4),
                   most = number_of("decoder_attention_heads", "decoder_attention_heads", 6);
    const auto refuse = [&] {
      file_.refuse_value(kKey, heads,
                         fmt::format("pairs of a layer below {} and a head below {}", layers, most));
    };
    if (!heads->is_array()) refuse();
    for (const json& pair : *heads) {
      const bool fits = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                        pair[1].is_number_unsigned() && pair[0].get<uint64_t>() < layers &&
                        pair[1].get<uint64_t>() < most;
      if (!fits) refuse();
      pairs.push_back(pair[0].get<uint32_t>());
      pairs.push_back(pair[1].get<uint32_t>());
    }
    return pairs;
  }

  static std::string code_of(const std::string& text) {
    const bool marked = text.size() > 4 && text.starts_with("<|") && text.ends_with("|>");
    return marked ? text.substr(2, text.size() - 4) : "";
  }

  /// Those that lang_to_id names, else the added tokens between the one that starts a text and the tasks.
  void read_languages(SpeechSettings& speech) const {
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
  static void add(const std::string& code, int32_t id, SpeechSettings& speech) {
    if (code.empty()) return;
    speech.languages.push_back({code, id});
  }

  /// The language and the task that the original begins with: by their names, or else by the tokens of an
  /// older key, which config.json may have instead.
  void read_defaults(SpeechSettings& speech) const {
    const json *language = file_.find(generation_, "language"), *task = file_.find(generation_, "task");
    if (language != nullptr) speech.language = number_of(*language, speech);
    if (task != nullptr) {
      if (*task != "transcribe" && *task != "translate")
        file_.refuse_value("task", task, "\"transcribe\" or \"translate\"");
      speech.translates = *task == "translate";
    }
    // The original puts the token of a task there where it is told one, or a language.
    bool says_task = task != nullptr || (language != nullptr && generation_.contains("task_to_id"));
    if (language == nullptr && task == nullptr) says_task = read_forced(speech);
    speech.names_task = says_task;
    if (speech.translates && speech.translate < 0)
      file_.refuse("the task is to translate, which the model has no token for");
  }

  static std::string code_named(const std::string& name) {
    static const std::map<std::string, std::string> kCodes = {
#define SPEECH_LANGUAGE(language, code) {language, code},
#include "host/base/speech_languages.inc"
#undef SPEECH_LANGUAGE
    };
    const auto found = kCodes.find(name);
    return found == kCodes.end() ? name : found->second;
  }

  /// Returns the number of a language by its name ("french"), code or token, from 1 on.
  uint32_t number_of(const json& language, const SpeechSettings& speech) const {
    std::string name = language.is_string() ? language.get<std::string>() : "";
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::string marked = code_of(name), code = marked.empty() ? code_named(name) : marked;
    if (speech.languages.empty() && code == "en") return 0;
    const auto found = std::find_if(speech.languages.begin(), speech.languages.end(),
                                    [&](const LanguageSpec& known) { return known.code == code; });
    if (found == speech.languages.end())
      file_.refuse_value("language", &language, "a language that the model knows");
    return static_cast<uint32_t>(found - speech.languages.begin()) + 1;
  }

  /// Pairs of a place from 1 on and the token there, null for a language that is heard. Returns whether one
  /// is a task's.
  bool read_forced(SpeechSettings& speech) const {
    constexpr const char* kKey = "forced_decoder_ids";
    const json* forced = file_.find(generation_, kKey);
    if (forced == nullptr) forced = file_.find(config_, kKey);
    if (forced == nullptr || *forced == json::array()) return false;
    // Without a tokenizer nothing says which tokens those are, and no text is written.
    if (tokenizer_ == nullptr && speech.languages.empty() && speech.no_timestamps < 0) return false;
    const auto refuse = [&] {
      file_.refuse_value(kKey, forced,
                         "pairs of a place from 1 on and the token of a language or a task there");
    };
    if (!forced->is_array()) refuse();
    bool says_task = false;
    for (size_t i = 0; i < forced->size(); ++i) {
      const json& pair = (*forced)[i];
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned()) refuse();
      if (i == 0 && pair[0] != 1) return false;  // the original takes none then
      if (pair[0] != i + 1) refuse();
      if (pair[1].is_null()) continue;
      const int32_t id = checked(pair[1], kKey);
      const auto language = std::find_if(speech.languages.begin(), speech.languages.end(),
                                         [&](const LanguageSpec& known) { return known.id == id; });
      if (language != speech.languages.end()) {
        speech.language = static_cast<uint32_t>(language - speech.languages.begin()) + 1;
      } else if (id == speech.translate) {
        speech.translates = says_task = true;
      } else if (id == speech.transcribe) {
        says_task = true;
      } else if (id != speech.no_timestamps) {
        refuse();
      }
    }
    return says_task;
  }

  /// Returns the list of generation_config.json, or, where that file is missing, of config.json, which may
  /// have another name for the list.
  std::vector<int32_t> list(const std::string& key, const std::string& other_key) const {
    const json* found = nullptr;
    const json& object = generation_.empty() ? config_ : generation_;
    for (const std::string& name : {key, other_key}) {
      const auto at = object.find(name);
      if (found == nullptr && at != object.end() && at->is_array()) found = &*at;
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

/// Keys that are read above, and those of the original's own search of long sounds.
constexpr const char* kSpeechKeys[] = {"lang_to_id",
                                       "task_to_id",
                                       "is_multilingual",
                                       "language",
                                       "task",
                                       "no_timestamps_token_id",
                                       "suppress_ids",
                                       "suppress_ids_begin",
                                       "prev_sot_token_id",
                                       "alignment_heads",
                                       "median_filter_width",
                                       "return_timestamps",
                                       "max_initial_timestamp_index",
                                       "max_length"};

/// Keys of a search that Whisper's own does not have, with what changes nothing.
constexpr std::pair<const char*, double> kSearchKeys[] = {{"num_beams", 1},      {"do_sample", 0},
                                                          {"length_penalty", 1}, {"repetition_penalty", 1},
                                                          {"temperature", 1},    {"no_repeat_ngram_size", 0},
                                                          {"min_length", 0},     {"min_new_tokens", 0},
                                                          {"max_new_tokens", 0}, {"guidance_scale", 1}};

}  // namespace

std::vector<std::string> unread_speech_keys(const Source& source) {
  const std::filesystem::path path = source.directory / "generation_config.json";
  const json generation =
      source.directory.empty() ? json::object() : read_optional_json_object(path, kSpeechTokensDepth);
  std::vector<std::string> unread = unread_generation_keys(source);
  std::erase_if(unread, [](const std::string& said) {
    return std::any_of(std::begin(kSpeechKeys), std::end(kSpeechKeys),
                       [&](const char* key) { return said.starts_with(std::string(key) + " "); });
  });
  for (const auto& [key, neutral] : kSearchKeys) {
    const auto found = generation.find(key);
    if (found == generation.end() || found->is_null()) continue;
    const bool says_nothing = found->is_boolean()  ? found->get<bool>() == (neutral != 0)
                              : found->is_number() ? found->get<double>() == neutral
                                                   : false;
    if (!says_nothing) unread.push_back(fmt::format("{} {}", key, shown(found->dump())));
  }
  for (const char* key : {"bad_words_ids", "forced_bos_token_id", "forced_eos_token_id"}) {
    const auto found = generation.find(key);
    if (found != generation.end() && !found->is_null())
      unread.push_back(fmt::format("{} {}", key, shown(found->dump())));
  }
  return unread;
}

SpeechSettings read_speech_tokens(const Source& source, const TokenizerSpec* tokenizer, uint32_t vocab) {
  return SpeechTokens(source, tokenizer, vocab).read();
}

void take_speech_tokens(Source& source, const TokenizerSpec* tokenizer, Graph& graph) {
  const SpeechSettings speech = read_speech_tokens(source, tokenizer, graph.vocab);
  graph.speech = speech;
  graph.languages = speech.languages;
  if (speech.language != 0)
    source.notes.push_back(fmt::format("hears the language {} by default, as the model's files say",
                                       speech.languages[speech.language - 1].code));
  if (speech.translates) source.notes.push_back("writes English by default, as the model's files say");
}

}  // namespace mote::convert
