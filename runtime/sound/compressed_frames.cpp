// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "mote/sound.h"

extern "C" void mote_compress_frames(const float* samples, uint32_t rows, uint32_t width, float scale,
                                     float* features) {
  for (uint32_t row = 0; row < rows; ++row, samples += width, features += width) {
    double sum = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < width; ++i) sum += static_cast<double>(samples[i]);
    const double mean = sum / width;
    for (uint32_t i = 0; i < width; ++i) {
      const double centred = static_cast<double>(samples[i]) - mean;
      squares += centred * centred;
    }
    const double factor = static_cast<double>(scale) / sqrt(squares / width + 1e-6);
    for (uint32_t i = 0; i < width; ++i)
      features[i] = static_cast<float>(asinh((static_cast<double>(samples[i]) - mean) * factor));
  }
}
