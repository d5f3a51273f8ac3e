// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length, in windows that begin where the last whole segment ended.
#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "mote/sound.h"
#include "tools/mote/speech/whisper.h"

namespace mote::cli {
namespace {

constexpr double kLeastLogprob = -1.0, kSilence = 0.6, kResets = 0.5;
constexpr uint32_t kFramesOfTimestamp = 2;

/// Cuts a window's tokens into passages and says how many frames of it are done.
class WindowCutter {
 public:
  WindowCutter(const WhisperDecoder& decoder, const WhisperDecoder::Result& result, uint64_t first,
               uint32_t frames)
      : decoder_(decoder),
        tokens_(decoder.tokens()),
        result_(result),
        frame_seconds_(static_cast<double>(decoder.sound().hop) / decoder.sound().rate),
        begin_(static_cast<double>(first) * frame_seconds_),
        frames_(frames) {}

  uint32_t cut() {
    const std::vector<int32_t>& ids = result_.ids;
    const size_t count = ids.size();
    const bool ends_alone = count >= 2 && is_time(count - 1) && !is_time(count - 2);
    std::vector<size_t> cuts;
    for (size_t i = 1; i < count; ++i)
      if (is_time(i) && is_time(i - 1)) cuts.push_back(i);
    if (cuts.empty()) {
      add_rest();
      return frames_;
    }
    if (ends_alone) cuts.push_back(count);
    size_t from = 0;
    for (const size_t to : cuts) {
      add(from, to, seconds(ids[from]), seconds(ids[to - 1]));
      from = to;
    }
    const auto done =
        static_cast<uint32_t>(ids[from - 1] - tokens_.speech.first_timestamp) * kFramesOfTimestamp;
    return ends_alone || done == 0 ? frames_ : done;
  }
  std::vector<Passage> passages;

 private:
  bool is_time(size_t index) const { return tokens_.is_timestamp(result_.ids[index]); }
  double seconds(int32_t id) const {
    return (id - tokens_.speech.first_timestamp) * kFramesOfTimestamp * frame_seconds_;
  }
  /// All of it, up to the last timestamp.
  void add_rest() {
    const auto last = std::find_if(result_.ids.rbegin(), result_.ids.rend(),
                                   [&](int32_t id) { return tokens_.is_timestamp(id); });
    const bool timed = last != result_.ids.rend() && *last != tokens_.speech.first_timestamp;
    add(0, result_.ids.size(), 0, timed ? seconds(*last) : frames_ * frame_seconds_);
  }
  void add(size_t from, size_t to, double begin, double end) {
    Passage passage{"", begin_ + begin, begin_ + end};
    passage.ids.assign(result_.ids.begin() + static_cast<ptrdiff_t>(from),
                       result_.ids.begin() + static_cast<ptrdiff_t>(to));
    passage.text = decoder_.text_of(passage.ids);
    passage.temperature = result_.temperature;
    passage.average_logprob = result_.average_logprob;
    passage.compression = result_.compression;
    passage.no_speech = result_.no_speech;
    const bool empty = passage.text.find_first_not_of(" \n\t\r") == std::string::npos;
    if (!empty && begin != end) passages.push_back(std::move(passage));
  }

  const WhisperDecoder& decoder_;
  const WhisperTokens& tokens_;
  const WhisperDecoder::Result& result_;
  double frame_seconds_, begin_;
  uint32_t frames_;
};

/// Sets the language that is wanted or heard in the first window; its code.
std::string begin_language(WhisperDecoder& decoder, const mote_model* model, MelReader& reader,
                           const WhisperOptions& options) {
  const mote_speech_info& speech = decoder.tokens().speech;
  if (speech.languages == 0) {
    if (options.translate || (!options.language.empty() && options.language != "en"))
      convert::fail("this model knows English alone");
    return "";
  }
  if (options.translate && speech.translate < 0) convert::fail("this model does not translate");
  const bool translates = options.translate || speech.translates != 0;
  if (options.language.empty() && speech.language != 0) {
    int32_t id = -1;
    const char* code = mote_model_language(model, speech.language - 1, &id);
    decoder.set_language(id, translates);
    return code;
  }
  for (uint32_t i = 0; !options.language.empty(); ++i) {
    int32_t id = -1;
    const char* code = mote_model_language(model, i, &id);
    if (code == nullptr) convert::fail("this model does not know the language '{}'", options.language);
    if (options.language != code) continue;
    decoder.set_language(id, translates, true);
    return code;
  }
  std::vector<float> features(size_t{decoder.sound().frames} * reader.mels());
  reader.read(0, decoder.sound().frames, features.data());
  decoder.hear(features);
  int32_t id = -1;
  const char* code = mote_model_language(model, decoder.detect_language(), &id);
  decoder.set_language(id, translates);
  return code;
}

}  // namespace

std::string transcribe_whisper(WhisperDecoder& decoder, SoundSource& source, const WhisperOptions& options,
                               const std::function<void(const Passage&)>& found) {
  const mote_sound_info& sound = decoder.sound();
  MelReader reader(source, sound.rate, sound.fft, sound.hop, sound.bins, sound.frames);
  if (reader.frames() == 0) return options.language;
  const std::string language = begin_language(decoder, decoder.model(), reader, options);
  std::vector<int32_t> earlier;
  for (uint64_t seek = 0; seek < reader.frames();) {
    const auto frames = static_cast<uint32_t>(std::min<uint64_t>(sound.frames, reader.frames() - seek));
    std::vector<float> features(size_t{sound.frames} * reader.mels());  // zeros behind the sound's end
    reader.read(seek, frames, features.data());
    decoder.hear(features);
    const WhisperDecoder::Result result = decoder.decode(earlier);
    if (result.no_speech > kSilence && result.average_logprob <= kLeastLogprob) {
      seek += frames;
      continue;
    }
    WindowCutter cutter(decoder, result, seek, frames);
    seek += cutter.cut();
    for (const Passage& passage : cutter.passages) {
      found(passage);
      earlier.insert(earlier.end(), passage.ids.begin(), passage.ids.end());
    }
    if (result.temperature > kResets) earlier.clear();
    const size_t most = sound.frames;  // of ids that a later window may read
    if (earlier.size() > most) earlier.erase(earlier.begin(), earlier.end() - static_cast<ptrdiff_t>(most));
  }
  return language;
}

}  // namespace mote::cli
