// SPDX-License-Identifier: Apache-2.0
//
// Samples of a sound, one channel of which, or the mean of all, is read.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/base/error.h"

namespace mote::cli {

/// Says which channel of a sound is read: the mean of all, the first or the second.
enum class Channel : uint8_t { mix, left, right };

/// Samples from -1 to 1.
class SoundSource {
 public:
  virtual ~SoundSource() = default;
  virtual uint32_t rate() const = 0;
  /// Fills `out` as far as there is sound; returns how many.
  virtual size_t read(std::span<float> out) = 0;
  /// Back to the first sample.
  virtual void rewind() = 0;
  virtual uint32_t channels() const { return 1; }
  /// Returns how many samples a channel has; 0: that is not known before the end.
  virtual uint64_t samples() const { return 0; }
  /// Returns the fault of the sound that was read to its end, in a sentence; "": nothing is known.
  virtual std::string damage() const { return ""; }

  /// Chooses what read() gives, before the first sample is read; at first the mean. Throws convert::Error for
  /// a sound of one channel, whose name begins the message.
  void choose(Channel channel, const std::string& name) {
    if (channel != Channel::mix && channels() < 2)
      convert::fail("{}: it has one channel, which is neither left nor right", name);
    channel_ = channel;
  }

 protected:
  /// Returns the sample of a time's channels. A value that is no number, in a damaged file of floats, is
  /// silence.
  float mixed(const float* frame, size_t count) const {
    float sample = 0;
    if (channel_ == Channel::mix) {
      for (size_t c = 0; c < count; ++c) sample += frame[c];
      sample /= static_cast<float>(count);
    } else {
      sample = frame[channel_ == Channel::right && count > 1 ? 1 : 0];
    }
    return std::isfinite(sample) ? sample : 0.0f;
  }

 private:
  Channel channel_ = Channel::mix;
};

}  // namespace mote::cli
