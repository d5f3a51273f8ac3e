// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_cutter.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mote::host {

WindowCutter::WindowCutter(const WhisperDecoder& decoder, const WhisperText& result,
                           const WhisperWindow& window)
    : decoder_(decoder),
      tokens_(decoder.tokens()),
      result_(result),
      frame_seconds_(static_cast<double>(decoder.sound().hop) / decoder.sound().rate),
      begin_(static_cast<double>(window.first) * frame_seconds_),
      frames_(window.frames) {}

double WindowCutter::seconds(int32_t id) const {
  return static_cast<double>(id - tokens_.speech.first_timestamp) * tokens_.speech.timestamp_frames *
         frame_seconds_;
}

bool WindowCutter::ends_alone() const {
  const size_t count = result_.ids.size();
  return count >= 2 && is_time(count - 1) && !is_time(count - 2);
}

Result<uint32_t> WindowCutter::cut() {
  const std::vector<int32_t>& ids = result_.ids;
  const size_t count = ids.size();
  std::vector<size_t> cuts;
  for (size_t i = 1; i < count; ++i)
    if (is_time(i) && is_time(i - 1)) cuts.push_back(i);
  if (cuts.empty()) {
    whole_ = count;
    MOTE_TRY(add_rest());
    return frames_;
  }
  if (ends_alone()) cuts.push_back(count);
  for (const size_t to : cuts) {
    MOTE_TRY(add(whole_, to, seconds(ids[whole_]), seconds(ids[to - 1])));
    whole_ = to;
  }
  const auto done = static_cast<uint32_t>(ids[whole_ - 1] - tokens_.speech.first_timestamp) *
                    tokens_.speech.timestamp_frames;
  return ends_alone() || done == 0 ? frames_ : done;
}

Status WindowCutter::cut_all() {
  MOTE_TAKE([[maybe_unused]] const uint32_t done, cut());
  const size_t count = result_.ids.size();
  if (whole_ == count) return {};
  const double begin = seconds(result_.ids[whole_]);
  return add(whole_, count, begin, std::max(begin, frames_ * frame_seconds_));
}

/// Adds all of it, up to the last timestamp.
Status WindowCutter::add_rest() {
  const auto last = std::find_if(result_.ids.rbegin(), result_.ids.rend(),
                                 [&](int32_t id) { return tokens_.is_timestamp(id); });
  const bool timed = last != result_.ids.rend() && *last != tokens_.speech.first_timestamp;
  return add(0, result_.ids.size(), 0, timed ? seconds(*last) : frames_ * frame_seconds_);
}

Status WindowCutter::add(size_t from, size_t to, double begin, double end) {
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

bool is_silent(const WhisperText& said, const WhisperOptions& options) {
  const bool likely = options.least_logprob && said.average_logprob > *options.least_logprob;
  return options.silence && said.no_speech > *options.silence && !likely;
}

bool is_empty(const Passage& passage) {
  return passage.begin == passage.end || passage.text.find_first_not_of(" \n\t\r") == std::string::npos;
}

uint32_t quietest_frame(std::span<const float> features, const mote_sound_info& sound) {
  constexpr uint32_t kSearchedSeconds = 8, kPiecesOfSecond = 10;
  const uint32_t second = sound.rate / sound.hop, piece = std::max(1u, second / kPiecesOfSecond);
  const auto frames = static_cast<uint32_t>(features.size() / sound.bins);
  std::vector<double> loud(frames);
  for (uint32_t i = 0; i < frames; ++i)
    for (const float bin : features.subspan(size_t{i} * sound.bins, sound.bins))
      loud[i] += static_cast<double>(bin);
  uint32_t best = frames;
  double least = 0;
  for (uint32_t at = frames - std::min(kSearchedSeconds * second, frames / 2); at + piece <= frames; ++at) {
    double sum = 0;
    for (uint32_t i = at; i < at + piece; ++i) sum += loud[i];
    if (best != frames && sum > least) continue;
    least = sum;
    best = at + piece / 2;
  }
  return best;
}

}  // namespace mote::host
