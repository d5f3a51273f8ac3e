// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/base/error.h"
#include "host/media/sound_file.h"

namespace mote::cli {
namespace {

constexpr size_t kBlock = 4096;  // samples read at once

}  // namespace

Resampler::Resampler(SoundSource& source, uint32_t rate) : source_(source) {
  mote_error error = {};
  if (mote_resampling_of(source.rate(), rate, &spec_, &error) != MOTE_OK) convert::fail("{}", error.text);
  weights_.resize(mote_resample_bytes(&spec_) / sizeof(float));
  mote_resample_init(&spec_, weights_.data());
}

/// Holds the source's samples up to `end`, as far as there are any; whether there may be more.
bool Resampler::fill(uint64_t end) {
  while (first_ + held_.size() < end && end_ == UINT64_MAX) {
    const size_t held = held_.size();
    held_.resize(held + kBlock);
    const size_t count = source_.read(std::span(held_).subspan(held));
    held_.resize(held + count);
    if (count == 0) end_ = first_ + held;
  }
  return end_ == UINT64_MAX;
}

size_t Resampler::read(std::span<float> out) {
  if (spec_.reach == 0) return source_.read(out);
  size_t count = 0;
  for (; count < out.size(); ++count, ++next_) {
    const uint64_t at = next_ * spec_.down / spec_.up;
    if (!fill(at + spec_.reach + 1) && at >= end_) break;
    mote_resample(&spec_, weights_.data(), held_.data(), first_, held_.size(), next_, 1, &out[count]);
    if (at > first_ + spec_.reach + kBlock) {
      const uint64_t drop = at - spec_.reach - first_;
      held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(drop));
      first_ += drop;
    }
  }
  return count;
}

}  // namespace mote::cli
