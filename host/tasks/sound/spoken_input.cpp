// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/spoken_input.h"

#include <algorithm>
#include <utility>

namespace mote::host {
namespace {

constexpr float kSpeaks = 0.5f, kPauses = 0.35f;  // probabilities
constexpr uint32_t kBegins = 3, kEnds = 16;       // frames that begin a stretch, and end one
constexpr double kSpokenRate = MOTE_SPEECH_RATE,
                 kNear = 8000;                      // samples: a time may lie so far in a speech that begins
constexpr uint64_t kAround = MOTE_SPEECH_RATE / 3;  // samples that stay before and behind

}  // namespace

SpokenInput::SpokenInput(SoundInput& sound, uint32_t frames)
    : sound_(&sound), block_(size_t{frames} * MOTE_SPEECH_FRAME) {
  mote_speech_start(&detector_);
}

Status SpokenInput::rewind() {
  mote_speech_start(&detector_);
  held_.clear();
  ready_.clear();
  stretches_.clear();
  given_ = 0;
  first_ = frame_ = loud_ = delivered_ = 0;
  begins_ = quiet_ = 0;
  speaks_ = ended_ = false;
  return sound_->rewind();
}

/// Makes the held samples before `end` of the whole sound ready.
void SpokenInput::deliver(uint64_t end) {
  if (end <= first_) return;
  const auto count = static_cast<size_t>(std::min<uint64_t>(held_.size(), end - first_));
  ready_.insert(ready_.end(), held_.begin(), held_.begin() + static_cast<ptrdiff_t>(count));
  stretches_.back().count += count;
  delivered_ += count;
  drop(first_ + count);
}

/// Forgets the held samples before `begin`.
void SpokenInput::drop(uint64_t begin) {
  if (begin <= first_) return;
  const auto count = static_cast<size_t>(std::min<uint64_t>(held_.size(), begin - first_));
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(count));
  first_ += count;
}

void SpokenInput::open(uint64_t frame) {
  const uint64_t begin = frame * MOTE_SPEECH_FRAME;
  drop(begin - std::min(begin, kAround));
  const uint64_t lead = begin - std::min(begin, first_);
  speaks_ = true;
  // What follows the last stretch without a gap goes on with it.
  const bool follows = !stretches_.empty() && stretches_.back().whole + stretches_.back().count == first_;
  if (!follows) stretches_.push_back({first_, delivered_, 0, lead, lead});
}

/// Takes the probability of the next frame.
void SpokenInput::take(float probability) {
  const uint64_t frame = frame_++;
  begins_ = probability >= kSpeaks ? begins_ + 1 : 0;
  quiet_ = probability < kPauses ? quiet_ + 1 : 0;
  if (!speaks_) {
    if (begins_ < kBegins) {
      const uint64_t begin = (frame + 1 - begins_) * MOTE_SPEECH_FRAME;
      return drop(begin - std::min(begin, kAround));
    }
    open(frame + 1 - begins_);
  }
  if (quiet_ == 0) {
    loud_ = frame;
    stretches_.back().said = (frame + 1) * MOTE_SPEECH_FRAME - stretches_.back().whole;
  }
  const uint64_t end = (loud_ + 1) * MOTE_SPEECH_FRAME + kAround;
  deliver(std::min(end, (frame + 1) * MOTE_SPEECH_FRAME));
  if (quiet_ >= kEnds) speaks_ = false;
}

/// Reads a block of the sound and decides what can be decided.
Status SpokenInput::hear() {
  const size_t held = held_.size();
  held_.resize(held + block_);
  MOTE_TAKE(const size_t count, sound_->read(std::span(held_).subspan(held)));
  held_.resize(held + count);
  ended_ = count < block_;
  std::vector<float> probabilities(block_ / MOTE_SPEECH_FRAME + MOTE_SPEECH_DELAY);
  // Samples that are decided on leave `held_`, so they are heard before.
  uint32_t known =
      mote_speech_add(&detector_, held_.data() + held, static_cast<uint32_t>(count), probabilities.data());
  for (uint32_t i = 0; i < known; ++i) take(probabilities[i]);
  if (!ended_) return {};
  known = mote_speech_finish(&detector_, probabilities.data());
  for (uint32_t i = 0; i < known; ++i) take(probabilities[i]);
  // A part of a frame at the end belongs to a stretch that goes on.
  if (speaks_) deliver(std::min((loud_ + 1) * MOTE_SPEECH_FRAME + kAround, first_ + held_.size()));
  return {};
}

Result<bool> SpokenInput::step() {
  if (!ended_) MOTE_TRY(hear());
  return !ended_;
}

std::vector<float> SpokenInput::take_ready() {
  std::vector<float> ready = std::exchange(ready_, {});
  ready.erase(ready.begin(), ready.begin() + static_cast<ptrdiff_t>(std::exchange(given_, 0)));
  return ready;
}

Result<size_t> SpokenInput::read(std::span<float> samples) {
  size_t done = 0;
  while (done < samples.size()) {
    if (given_ == ready_.size()) {
      ready_.clear();
      given_ = 0;
      if (ended_) break;
      MOTE_TRY(hear());
      continue;
    }
    const size_t count = std::min(samples.size() - done, ready_.size() - given_);
    std::copy_n(ready_.begin() + static_cast<ptrdiff_t>(given_), count,
                samples.begin() + static_cast<ptrdiff_t>(done));
    given_ += count;
    done += count;
  }
  return done;
}

/// Returns the stretch that has a sample of those read; of an end that lies between two the earlier one.
size_t SpokenInput::stretch_at(double sample, bool end) const {
  size_t at = 0;
  while (at + 1 < stretches_.size()) {
    const auto next = static_cast<double>(stretches_[at + 1].spoken);
    if (end ? next >= sample : next > sample) break;
    ++at;
  }
  return at;
}

/// Returns the time of a sample, which lies in the stretch or at one of its ends.
double SpokenInput::whole_seconds(size_t stretch, double sample) const {
  const Stretch& one = stretches_[stretch];
  const double inside =
      std::clamp(sample - static_cast<double>(one.spoken), 0.0, static_cast<double>(one.count));
  return (static_cast<double>(one.whole) + inside) / kSpokenRate;
}

SpokenInput::Span SpokenInput::whole_span(double begin, double end) const {
  if (stretches_.empty()) return {begin, end};
  const double first = begin * kSpokenRate, last = end * kSpokenRate;
  size_t of_first = stretch_at(first, false), of_last = stretch_at(last, true);
  const Stretch& stretch = stretches_[of_first];
  const bool is_behind = first >= static_cast<double>(stretch.spoken + stretch.said);
  if (is_behind && of_first + 1 < stretches_.size() && of_last > of_first) ++of_first;
  const Stretch& later = stretches_[of_last];
  if (of_last > of_first && last <= static_cast<double>(later.spoken + later.lead) + kNear) --of_last;
  const double from = whole_seconds(of_first, first);
  return {from, std::max(from, whole_seconds(of_last, last))};
}

}  // namespace mote::host
