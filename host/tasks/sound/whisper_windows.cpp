// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length, in windows: one after the other, or several at once.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/whisper.h"
#include "host/tasks/sound/whisper_cutter.h"
#include "host/tasks/sound/whisper_earlier.h"
#include "host/tasks/sound/whisper_languages.h"
#include "host/tasks/sound/whisper_words.h"

namespace mote::host {
namespace {

/// Reads the first window.
Status hear_first(WhisperDecoder& decoder, MelReader& reader, const Hooks& hooks) {
  std::vector<float> features(size_t{decoder.sound().frames} * reader.mels());
  MOTE_TRY(reader.read(0, decoder.sound().frames, features.data()));
  return decoder.hear(0, features, 0, hooks);
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

/// Transcribes the windows of a sound.
class Windows {
 public:
  Windows(WhisperDecoder& decoder, MelReader& reader, EarlierText& earlier, const WhisperOptions& options,
          const std::string& language, const Hooks& hooks, const OnPassage& found)
      : decoder_(decoder),
        reader_(reader),
        earlier_(earlier),
        options_(options),
        words_(decoder, language),
        hooks_(hooks),
        found_(found),
        sound_(decoder.sound()) {}

  /// Transcribes one after the other, each from the end of the last whole segment before.
  Status one_by_one() {
    for (uint64_t seek = 0; seek < reader_.frames();) {
      MOTE_TAKE(std::vector<float> features, read(seek));
      const WhisperWindow window{0, seek, frames_from(seek)};
      MOTE_TRY(decoder_.hear(0, features, seek, hooks_));
      MOTE_TAKE(const std::vector<WhisperText> texts, decoder_.decode({earlier_.ids()}, hooks_));
      const WhisperText& said = texts.front();
      if (is_silent(said, options_)) {
        seek += window.frames;
        continue;
      }
      WindowCutter cutter(decoder_, said, window);
      MOTE_TAKE(const uint32_t done, cutter.cut());
      uint64_t next = seek + done;
      if (options_.words) {
        MOTE_TRY(words_.add(cutter.passages, window, hooks_));
        if (!cutter.ends_alone()) next = frame_behind_words(cutter.passages, sound_, seek, next);
      }
      seek = next;
      std::erase_if(cutter.passages, is_empty);
      earlier_.add(cutter.passages, said.temperature);
      tell(cutter.passages, reader_.frames());
    }
    return {};
  }

  /// Transcribes as many at once as the decoder has room for. Windows end where it is quiet.
  Status side_by_side() {
    for (uint64_t seek = 0; seek < reader_.frames();) {
      std::vector<WhisperWindow> windows;
      std::vector<std::vector<int32_t>> earlier;
      for (uint32_t i = 0; i < decoder_.windows() && seek < reader_.frames(); ++i) {
        MOTE_TAKE(std::vector<float> features, read(seek));
        const bool is_last = frames_from(seek) == reader_.frames() - seek;
        const uint32_t frames = is_last ? frames_from(seek) : quietest_frame(features, sound_);
        std::fill(features.begin() + static_cast<ptrdiff_t>(size_t{frames} * reader_.mels()), features.end(),
                  0.0f);
        MOTE_TRY(decoder_.hear(i, features, seek, hooks_));
        windows.push_back({i, seek, frames});
        earlier.push_back(earlier_.ids());
        earlier_.add({}, 0);
        seek += frames;
      }
      MOTE_TAKE(const std::vector<WhisperText> texts, decoder_.decode(earlier, hooks_));
      for (size_t i = 0; i < windows.size(); ++i) MOTE_TRY(take(windows[i], texts[i]));
    }
    return {};
  }

 private:
  uint32_t frames_from(uint64_t first) const {
    return static_cast<uint32_t>(std::min<uint64_t>(sound_.frames, reader_.frames() - first));
  }

  /// Returns the features of the window that begins at a frame, zeros behind the sound's end.
  Result<std::vector<float>> read(uint64_t first) {
    std::vector<float> features(size_t{sound_.frames} * reader_.mels());
    MOTE_TRY(reader_.read(first, frames_from(first), features.data()));
    return features;
  }

  /// Takes all of what was said in a window.
  Status take(const WhisperWindow& window, const WhisperText& said) {
    if (is_silent(said, options_)) return {};
    WindowCutter cutter(decoder_, said, window);
    MOTE_TRY(cutter.cut_all());
    if (options_.words) MOTE_TRY(words_.add(cutter.passages, window, hooks_));
    std::erase_if(cutter.passages, is_empty);
    tell(cutter.passages, window.first + window.frames);
    return {};
  }

  /// Tells passages, which lie before the end frame.
  void tell(std::vector<Passage>& passages, uint64_t end) const {
    const double hop = 1.0 / sound_.rate * sound_.hop,
                 last = static_cast<double>(end) * sound_.hop / sound_.rate;
    for (Passage& passage : passages) {
      passage.end = std::min(passage.end, last);
      passage.begin = std::min(passage.begin, passage.end - hop);
      found_(passage);
    }
  }

  WhisperDecoder& decoder_;
  MelReader& reader_;
  EarlierText& earlier_;
  const WhisperOptions& options_;
  WhisperWords words_;
  const Hooks& hooks_;
  const OnPassage& found_;
  const mote_sound_info& sound_;
};

}  // namespace

Result<std::vector<LanguageProbability>> detect_language(const Model& model, const SessionChoices& choices,
                                                         SoundInput& input, const Hooks& hooks) {
  const WhisperOptions options;
  MOTE_TAKE(WhisperDecoder decoder, WhisperDecoder::make(model, choices, options, {}, hooks));
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
                                       const Hooks& hooks, const OnPassage& found, const GuessedBy& guesses,
                                       GuessReport& report) {
  WhisperOptions used = options;
  if (used.batch != 0) used.conditions = false;
  MOTE_TAKE(WhisperDecoder decoder, WhisperDecoder::make(model, choices, used, deflated, hooks, guesses));
  report = decoder.guesses();
  MOTE_TRY(require_options(decoder, used));
  SpokenLanguage told;
  if (!used.language.empty()) {
    MOTE_TAKE(told, find_language(model, used.language));
  }
  MOTE_TAKE(EarlierText earlier, EarlierText::make(decoder, used, hooks));
  MOTE_TAKE(MelReader reader, read_features(decoder.sound(), input, hooks));
  if (reader.frames() == 0) return told.code;
  MOTE_TAKE(std::string language, begin_language(decoder, reader, std::move(told), used, hooks));
  Windows windows(decoder, reader, earlier, used, language, hooks, found);
  MOTE_TRY(used.batch == 0 ? windows.one_by_one() : windows.side_by_side());
  report = decoder.guesses();
  return language;
}

}  // namespace mote::host
