// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length, in windows that begin where the last whole segment ended.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/whisper.h"
#include "host/tasks/sound/whisper_earlier.h"
#include "host/tasks/sound/whisper_languages.h"
#include "host/tasks/sound/whisper_words.h"

namespace mote::host {
namespace {

/// Cuts a window's tokens into passages and says how many frames of it are done.
class WindowCutter {
 public:
  WindowCutter(const WhisperDecoder& decoder, const WhisperText& result, uint64_t first, uint32_t frames)
      : decoder_(decoder),
        tokens_(decoder.tokens()),
        result_(result),
        frame_seconds_(static_cast<double>(decoder.sound().hop) / decoder.sound().rate),
        begin_(static_cast<double>(first) * frame_seconds_),
        frames_(frames) {}

  Result<uint32_t> cut() {
    const std::vector<int32_t>& ids = result_.ids;
    const size_t count = ids.size();
    std::vector<size_t> cuts;
    for (size_t i = 1; i < count; ++i)
      if (is_time(i) && is_time(i - 1)) cuts.push_back(i);
    if (cuts.empty()) {
      MOTE_TRY(add_rest());
      return frames_;
    }
    if (ends_alone()) cuts.push_back(count);
    size_t from = 0;
    for (const size_t to : cuts) {
      MOTE_TRY(add(from, to, seconds(ids[from]), seconds(ids[to - 1])));
      from = to;
    }
    const auto done = static_cast<uint32_t>(ids[from - 1] - tokens_.speech.first_timestamp) *
                      tokens_.speech.timestamp_frames;
    return ends_alone() || done == 0 ? frames_ : done;
  }
  /// Tells whether the text ends with a single time: what follows it in the window is silent.
  bool ends_alone() const {
    const size_t count = result_.ids.size();
    return count >= 2 && is_time(count - 1) && !is_time(count - 2);
  }
  std::vector<Passage> passages;  // also such as have no text

 private:
  bool is_time(size_t index) const { return tokens_.is_timestamp(result_.ids[index]); }
  double seconds(int32_t id) const {
    return static_cast<double>(id - tokens_.speech.first_timestamp) * tokens_.speech.timestamp_frames *
           frame_seconds_;
  }
  /// Adds all of it, up to the last timestamp.
  Status add_rest() {
    const auto last = std::find_if(result_.ids.rbegin(), result_.ids.rend(),
                                   [&](int32_t id) { return tokens_.is_timestamp(id); });
    const bool timed = last != result_.ids.rend() && *last != tokens_.speech.first_timestamp;
    return add(0, result_.ids.size(), 0, timed ? seconds(*last) : frames_ * frame_seconds_);
  }
  Status add(size_t from, size_t to, double begin, double end) {
    Passage passage{"", begin_ + begin, begin_ + end};
    passage.ids.assign(result_.ids.begin() + static_cast<ptrdiff_t>(from),
                       result_.ids.begin() + static_cast<ptrdiff_t>(to));
    MOTE_TAKE(passage.text, decoder_.text_of(passage.ids));
    passage.temperature = result_.temperature;
    passage.average_logprob = result_.average_logprob;
    passage.compression = result_.compression;
    passage.no_speech = result_.no_speech;
    passages.push_back(std::move(passage));
    return {};
  }

  const WhisperDecoder& decoder_;
  const WhisperTokens& tokens_;
  const WhisperText& result_;
  double frame_seconds_, begin_;
  uint32_t frames_;
};

/// Reads the first window.
Status hear_first(WhisperDecoder& decoder, MelReader& reader, const Hooks& hooks) {
  std::vector<float> features(size_t{decoder.sound().frames} * reader.mels());
  MOTE_TRY(reader.read(0, decoder.sound().frames, features.data()));
  return decoder.hear(features, hooks);
}

/// Fails for options that the model cannot honour.
Status require_options(const WhisperDecoder& decoder, const WhisperOptions& options) {
  const mote_speech_info& speech = decoder.tokens().speech;
  if (options.translate && speech.translate < 0) return failed("this model does not translate");
  if (!options.timestamps && speech.no_timestamps < 0)
    return failed("this model has no token for text without times");
  for (const int32_t id : options.suppressed.value_or(std::vector<int32_t>())) {
    const uint32_t vocab = decoder.model().info().vocab;
    if (id >= 0 && static_cast<uint32_t>(id) >= vocab)
      return failed("token {} is to be suppressed, but ids end at {}", id, vocab - 1);
  }
  return {};
}

/// Sets the language that is told, or else heard in the first window, and returns its code.
Result<std::string> begin_language(WhisperDecoder& decoder, MelReader& reader, SpokenLanguage language,
                                   const WhisperOptions& options, const Hooks& hooks) {
  const mote_speech_info& speech = decoder.tokens().speech;
  const Model& model = decoder.model();
  if (model.task_info().languages == 0) return std::string();
  if (options.language.empty() && speech.language != 0) {
    language = language_at(model, speech.language - 1);
  } else if (options.language.empty()) {
    MOTE_TRY(hear_first(decoder, reader, hooks));
    MOTE_TAKE(const std::vector<double> heard, decoder.language_probabilities(hooks));
    const auto best = std::max_element(heard.begin(), heard.end());
    language = language_at(model, static_cast<uint32_t>(best - heard.begin()));
  }
  decoder.set_language(language.id, options.translate || speech.translates != 0, !options.language.empty());
  return language.code;
}

bool is_silent(const WhisperText& said, const WhisperOptions& options) {
  const bool likely = options.least_logprob && said.average_logprob > *options.least_logprob;
  return options.silence && said.no_speech > *options.silence && !likely;
}

bool is_empty(const Passage& passage) {
  return passage.begin == passage.end || passage.text.find_first_not_of(" \n\t\r") == std::string::npos;
}

/// Returns the frame behind the last word, where the next window begins; `otherwise` where that is before
/// the window.
uint64_t frame_behind_words(const std::vector<Passage>& passages, const mote_sound_info& sound,
                            uint64_t first, uint64_t otherwise) {
  const double frames = end_of_words(passages) * sound.rate / sound.hop;
  return frames > static_cast<double>(first) ? static_cast<uint64_t>(std::llround(frames)) : otherwise;
}

Result<MelReader> read_features(const mote_sound_info& sound, SoundInput& input, const Hooks& hooks) {
  return MelReader::read_all(input, sound.rate, sound.fft, sound.hop, sound.bins, sound.frames, hooks);
}

}  // namespace

Result<std::vector<LanguageProbability>> detect_language(const Model& model, const SessionChoices& choices,
                                                         SoundInput& input, const Hooks& hooks) {
  const WhisperOptions options;
  MOTE_TAKE(WhisperDecoder decoder, WhisperDecoder::make(model, choices, options, {}));
  std::vector<LanguageProbability> found;
  if (model.task_info().languages == 0) return std::vector<LanguageProbability>{{"en", 1.0}};
  MOTE_TAKE(MelReader reader, read_features(decoder.sound(), input, hooks));
  MOTE_TRY(hear_first(decoder, reader, hooks));
  MOTE_TAKE(const std::vector<double> heard, decoder.language_probabilities(hooks));
  for (uint32_t i = 0; i < heard.size(); ++i) found.push_back({language_at(model, i).code, heard[i]});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  return found;
}

Result<std::string> transcribe_whisper(const Model& model, const SessionChoices& choices, SoundInput& input,
                                       const WhisperOptions& options, const Deflated& deflated,
                                       const Hooks& hooks, const OnPassage& found) {
  MOTE_TAKE(WhisperDecoder decoder, WhisperDecoder::make(model, choices, options, deflated));
  const mote_sound_info& sound = decoder.sound();
  MOTE_TRY(require_options(decoder, options));
  SpokenLanguage told;
  if (!options.language.empty()) {
    MOTE_TAKE(told, find_language(model, options.language));
  }
  MOTE_TAKE(EarlierText earlier, EarlierText::make(decoder, options, hooks));
  MOTE_TAKE(MelReader reader, read_features(sound, input, hooks));
  if (reader.frames() == 0) return told.code;
  MOTE_TAKE(std::string language, begin_language(decoder, reader, std::move(told), options, hooks));
  WhisperWords words(decoder, language);
  const double seconds = static_cast<double>(reader.frames()) * sound.hop / sound.rate;
  for (uint64_t seek = 0; seek < reader.frames();) {
    const auto frames = static_cast<uint32_t>(std::min<uint64_t>(sound.frames, reader.frames() - seek));
    std::vector<float> features(size_t{sound.frames} * reader.mels());  // zeros behind the sound's end
    MOTE_TRY(reader.read(seek, frames, features.data()));
    MOTE_TRY(decoder.hear(features, hooks));
    MOTE_TAKE(const WhisperText said, decoder.decode(earlier.ids(), hooks));
    if (is_silent(said, options)) {
      seek += frames;
      continue;
    }
    WindowCutter cutter(decoder, said, seek, frames);
    MOTE_TAKE(const uint32_t done, cutter.cut());
    uint64_t next = seek + done;
    if (options.words) {
      MOTE_TRY(words.add(cutter.passages, seek, frames, hooks));
      if (!cutter.ends_alone()) next = frame_behind_words(cutter.passages, sound, seek, next);
    }
    seek = next;
    std::erase_if(cutter.passages, is_empty);
    earlier.add(cutter.passages, said.temperature);
    for (Passage& passage : cutter.passages) {
      passage.end = std::min(passage.end, seconds);
      passage.begin = std::min(passage.begin, passage.end - 1.0 / sound.rate * sound.hop);
      found(passage);
    }
  }
  return language;
}

}  // namespace mote::host
