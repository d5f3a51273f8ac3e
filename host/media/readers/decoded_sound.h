// SPDX-License-Identifier: Apache-2.0
//
// Shares what readers need whose decoder gives samples piece after piece.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/media/readers/sound_readers.h"

namespace mote::cli {

/// Sound that a decoder reads from its first byte to its last; it never seeks but back to the start. What
/// follows a fault is left out.
class DecodedSound : public SoundSource {
 public:
  DecodedSound(std::unique_ptr<SoundBytes> bytes, std::string name)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}
  uint32_t rate() const override { return rate_; }
  uint32_t channels() const override { return channels_; }
  size_t read(std::span<float> out) override;
  void rewind() override;
  std::string damage() const override;

 protected:
  /// Begins to decode at the first byte.
  virtual void start() = 0;
  /// Adds the next piece; returns false at the end, and where the sound is damaged.
  virtual bool decode() = 0;

  /// Takes the format of the first piece; of later ones tells whether the rate is the same.
  bool take_format(uint32_t channels, uint32_t rate);
  /// Adds the sample of a time's channels.
  void add(const float* frame, uint32_t channels);
  /// Adds frames [count, channels] of which the channels of a time lie side by side.
  void add_frames(const float* frames, size_t count, uint32_t channels);
  /// Records that what follows can't be decoded; returns false.
  bool give_up();
  /// Reads bytes where a library calls through which nothing may be thrown: read() and begin() tell of a
  /// failure.
  size_t take(void* to, size_t count) noexcept;
  /// Calls start(), which may find that memory is short.
  void begin();
  /// Makes room for samples, so that adding so many in one piece asks for no memory.
  void reserve(size_t count) { held_.reserve(count); }
  [[noreturn]] void fail_to_open(const char* format) const;

  std::string name_;
  std::unique_ptr<SoundBytes> bytes_;

 private:
  bool lacks_memory_ = false;
  uint32_t rate_ = 0, channels_ = 0;
  std::vector<float> held_;  // decoded and not read
  size_t at_ = 0;
  uint64_t decoded_ = 0;  // samples since the start
  bool ended_ = false;
  std::string damage_;
};

}  // namespace mote::cli
