// SPDX-License-Identifier: Apache-2.0
//
// Samples, and how they are read of a WAV file.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "mote/owners.hpp"

namespace mote {
inline namespace v0 {

/// Samples of one channel, from -1 to 1.
struct Sound {
  uint32_t rate;
  std::vector<float> samples;
};

/// Reads the bytes of a WAV file: integers of 8, 16, 24 and 32 bits and floats of 32, any number of channels,
/// whose mean is taken. Programs that read MP3, FLAC or Opus take mote/host.h, or a library of their own.
class WavReader {
 public:
  static Result<Sound> read(const void* data, size_t bytes) {
    WavReader reader(static_cast<const unsigned char*>(data), bytes);
    return reader.sound();
  }
  static Result<Sound> read(const std::string& path) {
    const Result<File> file = File::open(path);
    if (!file.ok()) return file.status();
    Result<Sound> sound = read(file->data(), file->bytes());
    if (!sound.ok()) return Status(sound.status().code(), path + ": " + sound.text());
    return sound;
  }

 private:
  WavReader(const unsigned char* data, size_t bytes) : data_(data), bytes_(bytes) {}

  static Status refused(const char* why) { return Status(MOTE_BAD_INPUT, why); }
  uint32_t word(size_t at, size_t count) const {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= uint32_t{data_[at + i]} << (8 * i);
    return value;
  }
  bool is(size_t at, const char* name) const { return std::memcmp(data_ + at, name, 4) == 0; }

  Result<Sound> sound() {
    if (bytes_ < 12 || !is(0, "RIFF") || !is(8, "WAVE"))
      return refused("this is no WAV; ffmpeg -i FILE -ar 16000 out.wav makes one");
    for (size_t at = 12; at + 8 <= bytes_;) {
      const size_t begin = at + 8, left = bytes_ - begin;
      const uint32_t told = word(at + 4, 4);  // recorders do not know the length of what they pipe
      const size_t length = told == 0 && is(at, "data") ? left : std::min<size_t>(told, left);
      if (is(at, "fmt ") && length >= 16) {
        kind_ = word(begin, 2);
        if (kind_ == kExtensible && length >= 26) kind_ = word(begin + 24, 2);
        channels_ = word(begin + 2, 2);
        rate_ = word(begin + 4, 4);
        width_ = word(begin + 14, 2) / 8;
      }
      if (is(at, "data")) return samples(begin, length);
      at = begin + length + std::min(length % 2, left - length);
    }
    return refused("the WAV has no samples");
  }
  Result<Sound> samples(size_t begin, size_t length) const {
    const bool known = kind_ == kInteger ? width_ >= 1 && width_ <= 4 : kind_ == kFloat && width_ == 4;
    if (!known || channels_ == 0 || rate_ == 0)
      return refused(
          "the WAV has samples of another kind; ffmpeg -i FILE -c:a pcm_s16le out.wav makes those");
    Sound sound{rate_, std::vector<float>(length / (size_t{width_} * channels_))};
    for (float& sample : sound.samples) {
      float sum = 0;
      for (uint32_t c = 0; c < channels_; ++c, begin += width_) sum += sample_at(begin);
      sample = std::isfinite(sum) ? sum / static_cast<float>(channels_) : 0.0f;
    }
    return sound;
  }
  float sample_at(size_t at) const {
    const uint32_t bits = word(at, width_);
    if (kind_ == kFloat) {
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    if (width_ == 1) return (static_cast<float>(bits) - 128.0f) / 128.0f;
    const auto high = static_cast<int32_t>(bits << (32 - 8 * width_));  // its sign where an int32_t has it
    return static_cast<float>(high) / 2147483648.0f;
  }

  static constexpr uint32_t kInteger = 1, kFloat = 3, kExtensible = 0xFFFE;
  const unsigned char* data_;
  size_t bytes_;
  uint32_t kind_ = 0, channels_ = 0, rate_ = 0, width_ = 0;
};

}  // namespace v0
}  // namespace mote
