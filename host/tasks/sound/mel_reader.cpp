// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/mel_reader.h"

#include <algorithm>
#include <cmath>

namespace mote::host {
namespace {

constexpr uint32_t kMelFramesAtOnce = 500;
constexpr uint64_t kFramesBehind = 4;  // that may still have some sound in their windows

}  // namespace

MelStream::MelStream(SoundInput& sound, const mote_log_mel& spec)
    : sound_(&sound), spec_(spec), scratch_(mote_log_mel_bytes(&spec) / sizeof(double) + 1) {}

float MelStream::sample(int64_t at) const {
  const auto index = static_cast<uint64_t>(at < 0 ? -at : at);
  return index >= first_ && index - first_ < held_.size() ? held_[index - first_] : 0.0f;
}

Status MelStream::hold(int64_t end) {
  while (!ended_ && static_cast<int64_t>(first_ + held_.size()) < end) {
    const size_t had = held_.size(), wanted = size_t{kMelFramesAtOnce} * spec_.hop;
    held_.resize(had + wanted);
    MOTE_TAKE(const size_t count, sound_->read(std::span(held_).subspan(had)));
    held_.resize(had + count);
    ended_ = count < wanted;
  }
  return {};
}

Status MelStream::skip_to(uint64_t frame) {
  next_ = std::max(next_, frame);
  const int64_t begin = static_cast<int64_t>(next_ * spec_.hop) - spec_.fft / 2;
  while (!ended_ && begin > static_cast<int64_t>(first_ + held_.size())) {
    first_ += held_.size();
    held_.clear();
    MOTE_TRY(hold(static_cast<int64_t>(first_) + 1));
  }
  const int64_t gone = begin - static_cast<int64_t>(first_);
  if (gone <= 0) return {};
  const auto dropped = std::min(held_.size(), static_cast<size_t>(gone));
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(dropped));
  first_ += dropped;
  return {};
}

Status MelStream::read(uint32_t count, float* logarithms) {
  while (count > 0) {
    const uint32_t frames = std::min(count, kMelFramesAtOnce);
    MOTE_TRY(skip_to(next_));
    const int64_t begin = static_cast<int64_t>(next_ * spec_.hop) - spec_.fft / 2;
    const int64_t size = int64_t{frames - 1} * spec_.hop + spec_.fft;
    MOTE_TRY(hold(std::max(begin + size, int64_t{spec_.fft})));
    window_.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) window_[static_cast<size_t>(i)] = sample(begin + i);
    mote_error error = {};
    MOTE_TRY(
        from_core(mote_log_mel_frames(&spec_, window_.data(), frames, scratch_.data(), logarithms, &error),
                  error, "sound"));
    logarithms += size_t{frames} * spec_.mels;
    next_ += frames;
    count -= frames;
  }
  return {};
}

MelReader::MelReader(SoundInput& sound, uint32_t rate, uint32_t fft, uint32_t hop, uint32_t mels,
                     const Hooks& hooks)
    : sound_(&sound), hooks_(&hooks), filters_(size_t{mels} * (fft / 2 + 1)) {
  mote_mel_filters(rate, mels, fft / 2 + 1, filters_.data());
  spec_.fft = fft;
  spec_.hop = hop;
  spec_.mels = mels;
  spec_.bins = fft / 2 + 1;
  spec_.filters = filters_.data();
}

Result<MelReader> MelReader::read_all(SoundInput& sound, uint32_t rate, uint32_t fft, uint32_t hop,
                                      uint32_t mels, uint32_t held, const Hooks& hooks) {
  MelReader reader(sound, rate, fft, hop, mels, hooks);
  MOTE_TRY(reader.find_largest(held));
  return reader;
}

Status MelReader::find_largest(uint32_t held) {
  MelStream stream(*sound_, spec_);
  std::vector<float> block(size_t{kMelFramesAtOnce} * spec_.mels);
  largest_ = -INFINITY;
  while (!stream.samples() || stream.next() < *stream.samples() / spec_.hop + kFramesBehind ||
         stream.next() < held) {
    if (hooks_->stopped()) return cancelled();
    MOTE_TRY(stream.read(kMelFramesAtOnce, block.data()));
    largest_ = std::max(largest_, mote_log_mel_largest(block.data(), block.size()));
    if (held_.size() < size_t{held} * spec_.mels) held_.insert(held_.end(), block.begin(), block.end());
  }
  frames_ = *stream.samples() / spec_.hop;
  return {};
}

Status MelReader::read(uint64_t first, uint32_t count, float* features) {
  hooks_->tell("transcribe",
               static_cast<double>(first) / static_cast<double>(std::max<uint64_t>(1, frames_)));
  const size_t mels = spec_.mels, size = count * mels;
  const size_t gone = std::min(held_.size(), static_cast<size_t>(first - first_) * mels);
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(gone));
  first_ += gone / mels;
  if (held_.empty()) first_ = first;
  if (held_.size() < size) {
    if (!stream_) {
      MOTE_TRY(sound_->rewind());
      stream_.emplace(*sound_, spec_);
    }
    MOTE_TRY(stream_->skip_to(first_ + held_.size() / mels));
    const size_t had = held_.size();
    held_.resize(size);
    MOTE_TRY(stream_->read(static_cast<uint32_t>((size - had) / mels), held_.data() + had));
  }
  std::copy_n(held_.begin(), size, features);
  mote_log_mel_scale(features, size, largest_);
  return {};
}

}  // namespace mote::host
