// SPDX-License-Identifier: Apache-2.0
//
// Rows of features in another number of frames, by cubic convolution (Keys 1981).
#include "mote/sound.h"

namespace mote {
namespace {

constexpr double kSharpness = -0.75;

/// Returns the weight of a row that is so far away, 0 to 2.
double cubic_weight(double distance) {
  constexpr double a = kSharpness;
  if (distance <= 1.0) return ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0;
  return ((a * distance - 5.0 * a) * distance + 8.0 * a) * distance - 4.0 * a;
}

}  // namespace
}  // namespace mote

extern "C" {

void mote_resize_frames(const float* rows, uint32_t from, uint32_t width, uint32_t to, float* out) {
  const double step = to > 1 ? static_cast<double>(from - 1) / (to - 1) : 0.0;
  for (uint32_t i = 0; i < to; ++i, out += width) {
    const double place = step * i;
    const auto below = static_cast<int64_t>(place);
    const double part = place - static_cast<double>(below);
    const double weights[] = {mote::cubic_weight(part + 1.0), mote::cubic_weight(part),
                              mote::cubic_weight(1.0 - part), mote::cubic_weight(2.0 - part)};
    const float* taps[4];
    for (int32_t tap = 0; tap < 4; ++tap) {
      const int64_t at = below + tap - 1, last = int64_t{from} - 1;
      taps[tap] = rows + static_cast<size_t>(at < 0 ? 0 : at > last ? last : at) * width;
    }
    for (uint32_t column = 0; column < width; ++column) {
      double sum = 0.0;
      for (uint32_t tap = 0; tap < 4; ++tap) sum += weights[tap] * static_cast<double>(taps[tap][column]);
      out[column] = static_cast<float>(sum);
    }
  }
}

}  // extern "C"
