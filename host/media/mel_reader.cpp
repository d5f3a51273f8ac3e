// SPDX-License-Identifier: Apache-2.0
#include "host/media/mel_reader.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"

namespace mote::cli {
namespace {

constexpr uint32_t kMelFramesAtOnce = 500;
constexpr uint64_t kFramesBehind = 4;  // that may still have some sound in their windows

}  // namespace

MelStream::MelStream(SoundSource& source, uint32_t rate, const mote_log_mel& spec)
    : resampler_(source, rate), spec_(spec), scratch_(mote_log_mel_bytes(&spec) / sizeof(double) + 1) {}

float MelStream::sample(int64_t at) const {
  const auto index = static_cast<uint64_t>(at < 0 ? -at : at);
  return index >= first_ && index - first_ < held_.size() ? held_[index - first_] : 0.0f;
}

void MelStream::hold(int64_t end) {
  while (!ended_ && static_cast<int64_t>(first_ + held_.size()) < end) {
    const size_t had = held_.size();
    held_.resize(had + size_t{kMelFramesAtOnce} * spec_.hop);
    const size_t count = resampler_.read(std::span(held_).subspan(had));
    held_.resize(had + count);
    ended_ = count < size_t{kMelFramesAtOnce} * spec_.hop;
  }
}

void MelStream::skip_to(uint64_t frame) {
  next_ = std::max(next_, frame);
  const int64_t begin = static_cast<int64_t>(next_ * spec_.hop) - spec_.fft / 2;
  while (!ended_ && begin > static_cast<int64_t>(first_ + held_.size())) {
    first_ += held_.size();
    held_.clear();
    hold(static_cast<int64_t>(first_) + 1);
  }
  const int64_t gone = begin - static_cast<int64_t>(first_);
  if (gone <= 0) return;
  const auto dropped = std::min(held_.size(), static_cast<size_t>(gone));
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(dropped));
  first_ += dropped;
}

void MelStream::read(uint32_t count, float* logarithms) {
  while (count > 0) {
    const uint32_t frames = std::min(count, kMelFramesAtOnce);
    skip_to(next_);
    const int64_t begin = static_cast<int64_t>(next_ * spec_.hop) - spec_.fft / 2;
    const int64_t size = int64_t{frames - 1} * spec_.hop + spec_.fft;
    hold(std::max(begin + size, int64_t{spec_.fft}));
    window_.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) window_[static_cast<size_t>(i)] = sample(begin + i);
    mote_error error = {};
    if (mote_log_mel_frames(&spec_, window_.data(), frames, scratch_.data(), logarithms, &error) != MOTE_OK)
      convert::fail("sound: {}", error.text);
    logarithms += size_t{frames} * spec_.mels;
    next_ += frames;
    count -= frames;
  }
}

MelReader::MelReader(SoundSource& source, uint32_t rate, uint32_t fft, uint32_t hop, uint32_t mels,
                     uint32_t held)
    : source_(source), rate_(rate), filters_(size_t{mels} * (fft / 2 + 1)) {
  mote_mel_filters(rate, mels, fft / 2 + 1, filters_.data());
  spec_.fft = fft;
  spec_.hop = hop;
  spec_.mels = mels;
  spec_.bins = fft / 2 + 1;
  spec_.filters = filters_.data();
  MelStream stream(source, rate, spec_);
  std::vector<float> block(size_t{kMelFramesAtOnce} * mels);
  largest_ = -INFINITY;
  while (!stream.samples() || stream.next() < *stream.samples() / hop + kFramesBehind ||
         stream.next() < held) {
    stream.read(kMelFramesAtOnce, block.data());
    largest_ = std::max(largest_, mote_log_mel_largest(block.data(), block.size()));
    if (held_.size() < size_t{held} * mels) held_.insert(held_.end(), block.begin(), block.end());
  }
  frames_ = *stream.samples() / hop;
}

void MelReader::read(uint64_t first, uint32_t count, float* features) {
  const size_t mels = spec_.mels, size = count * mels;
  const size_t gone = std::min(held_.size(), static_cast<size_t>(first - first_) * mels);
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(gone));
  first_ += gone / mels;
  if (held_.empty()) first_ = first;
  if (held_.size() < size) {
    if (!stream_) {
      source_.rewind();
      stream_.emplace(source_, rate_, spec_);
    }
    stream_->skip_to(first_ + held_.size() / mels);
    const size_t had = held_.size();
    held_.resize(size);
    stream_->read(static_cast<uint32_t>((size - had) / mels), held_.data() + had);
  }
  std::copy_n(held_.begin(), size, features);
  mote_log_mel_scale(features, size, largest_);
}

}  // namespace mote::cli
