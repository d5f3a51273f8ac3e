// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length, in windows that begin where the last whole segment ended.
#include <algorithm>
#include <optional>
#include <utility>

#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {
namespace {

constexpr double kLeastLogprob = -1.0, kSilence = 0.6, kResets = 0.5;

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
    const bool ends_alone = count >= 2 && is_time(count - 1) && !is_time(count - 2);
    std::vector<size_t> cuts;
    for (size_t i = 1; i < count; ++i)
      if (is_time(i) && is_time(i - 1)) cuts.push_back(i);
    if (cuts.empty()) {
      MOTE_TRY(add_rest());
      return frames_;
    }
    if (ends_alone) cuts.push_back(count);
    size_t from = 0;
    for (const size_t to : cuts) {
      MOTE_TRY(add(from, to, seconds(ids[from]), seconds(ids[to - 1])));
      from = to;
    }
    const auto done = static_cast<uint32_t>(ids[from - 1] - tokens_.speech.first_timestamp) *
                      tokens_.speech.timestamp_frames;
    return ends_alone || done == 0 ? frames_ : done;
  }
  std::vector<Passage> passages;

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
    const bool empty = passage.text.find_first_not_of(" \n\t\r") == std::string::npos;
    if (!empty && begin != end) passages.push_back(std::move(passage));
    return {};
  }

  const WhisperDecoder& decoder_;
  const WhisperTokens& tokens_;
  const WhisperText& result_;
  double frame_seconds_, begin_;
  uint32_t frames_;
};

/// Sets the language that is wanted or heard in the first window and returns its code.
Result<std::string> begin_language(WhisperDecoder& decoder, MelReader& reader, const WhisperOptions& options,
                                   const Hooks& hooks) {
  const mote_speech_info& speech = decoder.tokens().speech;
  const mote_model* model = decoder.model().get();
  if (decoder.model().task_info().languages == 0) {
    if (options.translate || (!options.language.empty() && options.language != "en"))
      return failed("this model knows English alone");
    return std::string();
  }
  if (options.translate && speech.translate < 0) return failed("this model does not translate");
  const bool translates = options.translate || speech.translates != 0;
  int32_t id = -1;
  if (options.language.empty() && speech.language != 0) {
    const char* code = mote_model_language(model, speech.language - 1, &id);
    decoder.set_language(id, translates);
    return std::string(code);
  }
  for (uint32_t i = 0; !options.language.empty(); ++i) {
    const char* code = mote_model_language(model, i, &id);
    if (code == nullptr) return failed("this model does not know the language '{}'", options.language);
    if (options.language != code) continue;
    decoder.set_language(id, translates, true);
    return std::string(code);
  }
  std::vector<float> features(size_t{decoder.sound().frames} * reader.mels());
  MOTE_TRY(reader.read(0, decoder.sound().frames, features.data()));
  MOTE_TRY(decoder.hear(features, hooks));
  MOTE_TAKE(const uint32_t heard, decoder.detect_language(hooks));
  const char* code = mote_model_language(model, heard, &id);
  decoder.set_language(id, translates);
  return std::string(code);
}

}  // namespace

Result<std::string> transcribe_whisper(const Model& model, const SessionChoices& choices, SoundInput& input,
                                       const WhisperOptions& options, const Hooks& hooks,
                                       const OnPassage& found) {
  MOTE_TAKE(WhisperDecoder decoder, WhisperDecoder::make(model, choices, options.deflated));
  const mote_sound_info& sound = decoder.sound();
  MOTE_TAKE(MelReader reader,
            MelReader::read_all(input, sound.rate, sound.fft, sound.hop, sound.bins, sound.frames, hooks));
  if (reader.frames() == 0) return options.language;
  MOTE_TAKE(std::string language, begin_language(decoder, reader, options, hooks));
  std::vector<int32_t> earlier;
  for (uint64_t seek = 0; seek < reader.frames();) {
    const auto frames = static_cast<uint32_t>(std::min<uint64_t>(sound.frames, reader.frames() - seek));
    std::vector<float> features(size_t{sound.frames} * reader.mels());  // zeros behind the sound's end
    MOTE_TRY(reader.read(seek, frames, features.data()));
    MOTE_TRY(decoder.hear(features, hooks));
    MOTE_TAKE(const WhisperText said, decoder.decode(earlier, hooks));
    if (said.no_speech > kSilence && said.average_logprob <= kLeastLogprob) {
      seek += frames;
      continue;
    }
    WindowCutter cutter(decoder, said, seek, frames);
    MOTE_TAKE(const uint32_t done, cutter.cut());
    seek += done;
    for (const Passage& passage : cutter.passages) {
      found(passage);
      earlier.insert(earlier.end(), passage.ids.begin(), passage.ids.end());
    }
    if (said.temperature > kResets) earlier.clear();
    const size_t most = sound.frames;  // of ids that a later window may read
    if (earlier.size() > most) earlier.erase(earlier.begin(), earlier.end() - static_cast<ptrdiff_t>(most));
  }
  return language;
}

}  // namespace mote::host
