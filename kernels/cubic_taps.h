// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <math.h>
#include <stdint.h>

namespace mote {

/// The four positions of a side that a place is made of by cubic convolution (a = -0.75), and their weights:
/// PyTorch's bicubic interpolation without antialiasing and aligned corners.
struct CubicTaps {
  uint32_t at[4];
  float weights[4];
};

/// Finds the taps of a place among `patches` on a side of so many stored positions.
inline CubicTaps cubic_taps(uint32_t side, uint32_t patches, uint32_t place) {
  constexpr float kA = -0.75f;
  const float scale = static_cast<float>(side) / static_cast<float>(patches);
  const float middle = scale * (static_cast<float>(place) + 0.5f) - 0.5f, first = floorf(middle);
  CubicTaps taps;
  for (int i = 0; i < 4; ++i) {
    const float at = first + static_cast<float>(i - 1), last = static_cast<float>(side - 1);
    const float x = fabsf(middle - at);
    taps.at[i] = static_cast<uint32_t>(at < 0.0f ? 0.0f : at > last ? last : at);
    taps.weights[i] = i == 1 || i == 2 ? ((kA + 2.0f) * x - (kA + 3.0f)) * x * x + 1.0f
                                       : ((kA * x - 5.0f * kA) * x + 8.0f * kA) * x - 4.0f * kA;
  }
  return taps;
}

}  // namespace mote
