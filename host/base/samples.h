// SPDX-License-Identifier: Apache-2.0
//
// Samples of sound as whole numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mote::convert {

/// Returns a sample from -1 to 1 as a whole number of 16 bits; what is no number is 0.
inline int32_t sample_of_16_bits(float sample) {
  const float clipped = std::isfinite(sample) ? std::clamp(sample, -1.0f, 1.0f) : 0.0f;
  return static_cast<int32_t>(std::lround(clipped * 32767.0f));
}

/// Appends samples in 16 bits, the lower byte first.
inline void add_samples(std::vector<std::byte>& bytes, std::span<const float> samples) {
  for (const float sample : samples) {
    const int32_t value = sample_of_16_bits(sample);
    for (const int shift : {0, 8}) bytes.push_back(static_cast<std::byte>(value >> shift));
  }
}

}  // namespace mote::convert
