// SPDX-License-Identifier: Apache-2.0
//
// Utterance-level cepstral mean and variance normalization; sums are of doubles, so that long sounds keep
// their precision.
#include <math.h>

#include "mote/sound.h"

extern "C" {

uint32_t mote_normalize_columns(float* features, uint32_t frames, uint32_t mels, int mean, int deviation) {
  uint32_t varying = 0;
  const size_t end = size_t{frames} * mels;
  for (uint32_t mel = 0; mel < mels; ++mel) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = mel; i < end; i += mels) sum += static_cast<double>(features[i]);
    const double middle = sum / frames;
    for (size_t i = mel; i < end; i += mels) {
      const double centred = static_cast<double>(features[i]) - middle;
      squares += centred * centred;
    }
    if (squares > 0.0) ++varying;
    const double taken = mean != 0 ? middle : 0.0, spread = sqrt(squares / frames);
    for (size_t i = mel; i < end; i += mels) {
      const double value = static_cast<double>(features[i]) - taken;
      features[i] = static_cast<float>(deviation == 0 ? value : squares > 0.0 ? value / spread : 0.0);
    }
  }
  return varying;
}

}  // extern "C"
