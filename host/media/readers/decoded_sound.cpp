// SPDX-License-Identifier: Apache-2.0
#include "host/media/readers/decoded_sound.h"

#include <algorithm>
#include <new>

#include "host/base/error.h"

namespace mote::cli {

size_t DecodedSound::read(std::span<float> out) {
  size_t done = 0;
  while (done < out.size()) {
    if (at_ == held_.size()) {
      held_.clear();
      at_ = 0;
      if (ended_ || !decode()) ended_ = true;
      if (lacks_memory_) throw std::bad_alloc();
      if (held_.empty() && ended_) break;
    }
    const size_t count = std::min(out.size() - done, held_.size() - at_);
    std::copy_n(held_.begin() + static_cast<std::ptrdiff_t>(at_), count,
                out.begin() + static_cast<std::ptrdiff_t>(done));
    at_ += count;
    done += count;
  }
  return done;
}

void DecodedSound::rewind() {
  held_.clear();
  at_ = 0;
  decoded_ = 0;
  ended_ = false;
  damage_.clear();
  bytes_->seek(0);
  begin();
}

size_t DecodedSound::take(void* to, size_t count) noexcept {
  try {
    return bytes_->read(static_cast<std::byte*>(to), count);
  } catch (const std::bad_alloc&) {
    lacks_memory_ = true;
    return 0;
  }
}

void DecodedSound::begin() {
  start();
  if (lacks_memory_) throw std::bad_alloc();
}

std::string DecodedSound::damage() const {
  return decoded_ == 0 ? "there is no sound in it: it is empty, cut or damaged" : damage_;
}

bool DecodedSound::take_format(uint32_t channels, uint32_t rate) {
  check_sound_format(name_, channels, rate);
  if (rate_ == 0) {
    rate_ = rate;
    channels_ = channels;
  }
  return rate_ == rate;
}

void DecodedSound::add(const float* frame, uint32_t channels) {
  held_.push_back(mixed(frame, channels));
  ++decoded_;
}

void DecodedSound::add_frames(const float* frames, size_t count, uint32_t channels) {
  for (size_t i = 0; i < count; ++i) add(frames + i * channels, channels);
}

bool DecodedSound::give_up() {
  if (damage_.empty())
    damage_ = fmt::format("it is damaged after {:.1f} s, what follows is left out",
                          static_cast<double>(decoded_) / rate_);
  return false;
}

void DecodedSound::fail_to_open(const char* format) const {
  if (lacks_memory_) throw std::bad_alloc();
  convert::fail("{}: it begins as {} and is cut or damaged", name_, format);
}

}  // namespace mote::cli
