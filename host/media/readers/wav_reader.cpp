// SPDX-License-Identifier: Apache-2.0
//
// WAV without a library: chunks of RIFF, of which "fmt " and "data" are read. Lengths are the file's word and
// lead nowhere but behind what is read next, or to the end.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "host/base/error.h"
#include "host/media/readers/sound_readers.h"

namespace mote::cli {
namespace {

constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr uint32_t kUnknownLength = 0xFFFFFFFF;
constexpr size_t kFramesOfRead = 4096;

template <class T>
T little_endian(const std::byte* from) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<uint64_t>(from[i]) << (8 * i);
  return static_cast<T>(value);
}

/// Returns a sample of so many bytes, from -1 to 1.
float sample_at(const std::byte* from, size_t bytes, bool is_float) {
  if (is_float && bytes == 8) return static_cast<float>(std::bit_cast<double>(little_endian<uint64_t>(from)));
  if (is_float) return std::bit_cast<float>(little_endian<uint32_t>(from));
  switch (bytes) {
    case 1:
      return static_cast<float>(little_endian<uint8_t>(from) - 128) / 128.0f;
    case 2:
      return static_cast<float>(static_cast<int16_t>(little_endian<uint16_t>(from))) / 32768.0f;
    case 3: {
      const uint32_t high =
          uint32_t{little_endian<uint16_t>(from)} << 8 | uint32_t{little_endian<uint8_t>(from + 2)} << 24;
      return static_cast<float>(static_cast<int32_t>(high) / 256) / 8388608.0f;
    }
    default:
      return static_cast<float>(static_cast<int32_t>(little_endian<uint32_t>(from))) / 2147483648.0f;
  }
}

class WavFile : public SoundSource {
 public:
  WavFile(std::shared_ptr<SoundBytes> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {
    read_header();
  }
  uint32_t rate() const override { return rate_; }
  uint32_t channels() const override { return channels_; }
  uint64_t samples() const override { return frames_; }
  size_t read(std::span<float> out) override {
    const size_t width = frame_bytes_ / channels_;
    size_t done = 0;
    while (done < out.size()) {
      const size_t wanted = std::min({kFramesOfRead, out.size() - done, frames_left()});
      const size_t count = bytes_->read(raw_.data(), wanted * frame_bytes_) / frame_bytes_;
      if (count == 0) break;
      frames_read_ += count;
      for (size_t i = 0; i < count; ++i, ++done) {
        std::array<float, kMostSoundChannels> frame;
        for (size_t c = 0; c < channels_; ++c)
          frame[c] = sample_at(raw_.data() + i * frame_bytes_ + c * width, width, is_float_);
        out[done] = mixed(frame.data(), channels_);
      }
    }
    return done;
  }
  void rewind() override {
    bytes_->seek(begin_);
    frames_read_ = 0;
  }
  std::string damage() const override {
    if (frames_read_ == 0) return "there is no sound in it: it is empty, cut or damaged";
    return frames_ != 0 && frames_read_ < frames_ ? "it is cut: its header tells of more sound" : "";
  }

 private:
  size_t frames_left() const {
    return frames_ == 0 ? kFramesOfRead : static_cast<size_t>(frames_ - frames_read_);
  }

  /// Reads chunks up to the samples.
  void read_header() {
    std::array<std::byte, 12> head;
    if (bytes_->read(head.data(), head.size()) != head.size() || std::memcmp(head.data(), "RIFF", 4) != 0 ||
        std::memcmp(head.data() + 8, "WAVE", 4) != 0)
      convert::fail("{} is no WAV: {}", name_, other_sound_format(name_));
    while (bytes_->read(head.data(), 8) == 8) {
      const auto length = little_endian<uint32_t>(head.data() + 4);
      if (std::memcmp(head.data(), "data", 4) == 0) return begin_samples(length);
      const uint64_t next = bytes_->at() + length + length % 2;
      if (std::memcmp(head.data(), "fmt ", 4) == 0) read_format(length);
      bytes_->seek(next);
    }
    convert::fail("{}: there is no sound in it: it is empty, cut or damaged", name_);
  }
  void read_format(uint32_t length) {
    std::array<std::byte, 40> format{};
    const size_t wanted = std::min<size_t>(length, format.size());
    if (wanted < 16 || bytes_->read(format.data(), wanted) != wanted)
      convert::fail("{}: its format is cut", name_);
    auto kind = little_endian<uint16_t>(format.data());
    if (kind == kExtensible && wanted == format.size()) kind = little_endian<uint16_t>(format.data() + 24);
    channels_ = little_endian<uint16_t>(format.data() + 2);
    rate_ = little_endian<uint32_t>(format.data() + 4);
    frame_bytes_ = little_endian<uint16_t>(format.data() + 12);
    const uint32_t bits = little_endian<uint16_t>(format.data() + 14);
    is_float_ = kind == kFloat;
    const bool known = kind == kPcm ? bits >= 8 && bits <= 32 : is_float_ && (bits == 32 || bits == 64);
    check_sound_format(name_, channels_, rate_);
    if (!known || bits % 8 != 0 || frame_bytes_ != channels_ * bits / 8)
      convert::fail("{}: samples of kind {} and {} bits: {}", name_, kind, bits, other_sound_format(name_));
  }
  void begin_samples(uint32_t length) {
    if (channels_ == 0) convert::fail("{}: its samples come before their format", name_);
    begin_ = bytes_->at();
    // Recorders do not know the length of what they pipe.
    const bool known = length != 0 && length != kUnknownLength && !bytes_->is_piped();
    frames_ = known ? length / frame_bytes_ : 0;
    raw_.resize(kFramesOfRead * frame_bytes_);
  }

  std::shared_ptr<SoundBytes> bytes_;
  std::string name_;
  uint32_t rate_ = 0, channels_ = 0, frame_bytes_ = 0;
  bool is_float_ = false;
  uint64_t begin_ = 0, frames_ = 0, frames_read_ = 0;  // frames_: 0 where it is not known
  std::vector<std::byte> raw_;
};

}  // namespace

std::unique_ptr<SoundSource> open_wav(std::shared_ptr<SoundBytes> bytes, std::string name) {
  return std::make_unique<WavFile>(std::move(bytes), std::move(name));
}

}  // namespace mote::cli
