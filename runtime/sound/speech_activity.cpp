// SPDX-License-Identifier: Apache-2.0
//
// The detector of speech. Of sound at half the rate, frames of 256 samples in a Hann window become the
// logarithms of 24 bands and what these are above their slow mean. Three layers follow: of a frame alone, of
// five neighbouring frames, and of five frames that lie three apart; rectified sums all. models/speech has
// the same in numpy and torch, and trains it. A layer's output for a frame waits until the frames behind it
// are there; before the first frame and behind the last one outputs are 0.
#include "mote/speech_activity.h"

#include <math.h>
#include <string.h>

namespace mote::activity {
namespace {

#include "runtime/sound/speech_weights.inc"

constexpr uint32_t kSamples = 256, kHalf = kSamples / 2, kBands = 24, kWidth = 24;
constexpr double kPi = 3.14159265358979323846;
constexpr double kLowest = 80.0, kHighest = 4000.0, kHalfRate = 8000.0;
constexpr float kFloor = 1e-6f, kOffset = 6.0f, kScale = 0.25f, kDrift = 0.03f;
constexpr uint32_t kNearFrames = 5, kNearBehind = 1;               // -3 to 1
constexpr uint32_t kFarFrames = 13, kFarStep = 3, kFarBehind = 3;  // -9 to 3
constexpr uint32_t kTaps = 5;
constexpr uint32_t kBelow = 255;  // of edges: a bin is in no band
static_assert(kNearBehind + kFarBehind == MOTE_SPEECH_DELAY);
static_assert(sizeof kRowsWeight / sizeof(float) == 2 * kBands * kWidth);
static_assert(sizeof kNearWeight / sizeof(float) == kTaps * kWidth * kWidth);

double mels_of(double hertz) { return 1127.0 * log(1.0 + hertz / 700.0); }

/// Returns a sample from -1 to 1; what is no number is silence.
float bounded(float sample) {
  if (sample > 1.0f) return 1.0f;
  if (sample < -1.0f) return -1.0f;
  return sample == sample ? sample : 0.0f;
}

/// Adds x [inputs] by weights [inputs, kWidth] to sums [kWidth].
void add_products(const float* x, uint32_t inputs, const float* weights, float* sums) {
  float added[kWidth];
  memcpy(added, sums, sizeof added);
  for (uint32_t i = 0; i < inputs; ++i, weights += kWidth) {
    if (x[i] == 0.0f) continue;
    for (uint32_t o = 0; o < kWidth; ++o) added[o] += x[i] * weights[o];
  }
  memcpy(sums, added, sizeof added);
}

void rectify(float* sums) {
  for (uint32_t o = 0; o < kWidth; ++o) sums[o] = sums[o] > 0.0f ? sums[o] : 0.0f;
}

/// Places of numbers whose seven bits are in the other order.
struct ReversedPlaces {
  uint8_t of[kHalf];
  constexpr ReversedPlaces() : of() {
    for (uint32_t place = 0; place < kHalf; ++place) {
      for (uint32_t bit = 0; bit < 7; ++bit)
        of[place] = static_cast<uint8_t>(of[place] | (place >> bit & 1) << (6 - bit));
    }
  }
};
constexpr ReversedPlaces kReversed;

/// One step of a transform: sums and differences of halves of 2 kPairs numbers, of which the second ones are
/// turned before.
template <uint32_t kPairs>
void butterflies(mote_speech_detector* d) {
  const float *c = d->turns_real + kPairs, *s = d->turns_imaginary + kPairs;
  for (uint32_t first = 0; first < kHalf; first += 2 * kPairs) {
    float *real = d->real + first, *imaginary = d->imaginary + first;
    for (uint32_t i = 0; i < kPairs; ++i) {
      const float turned_real = real[kPairs + i] * c[i] - imaginary[kPairs + i] * s[i];
      const float turned_imaginary = real[kPairs + i] * s[i] + imaginary[kPairs + i] * c[i];
      real[kPairs + i] = real[i] - turned_real;
      imaginary[kPairs + i] = imaginary[i] - turned_imaginary;
      real[i] += turned_real;
      imaginary[i] += turned_imaginary;
    }
  }
}

/// Transforms 128 complex numbers that lie in reversed order (Cooley and Tukey 1965).
void transform(mote_speech_detector* d) {
  butterflies<1>(d);
  butterflies<2>(d);
  butterflies<4>(d);
  butterflies<8>(d);
  butterflies<16>(d);
  butterflies<32>(d);
  butterflies<64>(d);
}

/// Writes the powers of the bins of the 256 real numbers of which the even ones were transformed as real
/// parts and the odd ones as imaginary parts, [kHalf + 1].
void make_powers(const mote_speech_detector& d, float* powers) {
  const float even = d.real[0], odd = d.imaginary[0];
  powers[0] = (even + odd) * (even + odd);
  powers[kHalf] = (even - odd) * (even - odd);
  for (uint32_t k = 1; k < kHalf; ++k) {
    const uint32_t mirrored = kHalf - k;
    const float even_real = 0.5f * (d.real[k] + d.real[mirrored]);
    const float even_imaginary = 0.5f * (d.imaginary[k] - d.imaginary[mirrored]);
    const float odd_real = 0.5f * (d.imaginary[k] + d.imaginary[mirrored]);
    const float odd_imaginary = -0.5f * (d.real[k] - d.real[mirrored]);
    const float real = even_real + d.cosines[k] * odd_real - d.sines[k] * odd_imaginary;
    const float imaginary = even_imaginary + d.cosines[k] * odd_imaginary + d.sines[k] * odd_real;
    powers[k] = real * real + imaginary * imaginary;
  }
}

/// Writes the features of the frame that is held, [2 kBands].
void make_features(mote_speech_detector* d, float* features) {
  const auto windowed = [d](uint32_t i) { return d->samples[i] * d->window[i <= kHalf ? i : kSamples - i]; };
  for (uint32_t i = 0; i < kHalf; ++i) {
    d->real[kReversed.of[i]] = windowed(2 * i);
    d->imaginary[kReversed.of[i]] = windowed(2 * i + 1);
  }
  transform(d);
  float powers[kHalf + 1], bands[kBands + 2] = {};  // with what is below the first band and above the last
  make_powers(*d, powers);
  for (uint32_t bin = 0; bin <= kHalf; ++bin) {
    const uint32_t edge = d->edges[bin];
    if (edge == kBelow) continue;
    bands[edge] += (1.0f - d->rising[bin]) * powers[bin];
    bands[edge + 1] += d->rising[bin] * powers[bin];
  }
  for (uint32_t band = 0; band < kBands; ++band) {
    const float loudness = (logf(bands[band + 1] + kFloor) + kOffset) * kScale;
    float& mean = d->mean[band];
    mean = d->frames == 0 ? loudness : mean + kDrift * (loudness - mean);
    features[band] = loudness;
    features[kBands + band] = loudness - mean;
  }
}

/// Takes the first layer's outputs of the next frame, or of the one that lies `behind` the last, which are
/// none. Returns whether a probability is known with it.
bool advance(mote_speech_detector* d, const float* row, uint32_t behind, float* probability) {
  memmove(d->rows[0], d->rows[1], (kNearFrames - 1) * sizeof d->rows[0]);
  float* const newest = d->rows[kNearFrames - 1];
  memset(newest, 0, sizeof d->rows[0]);
  if (behind == 0) memcpy(newest, row, sizeof d->rows[0]);
  if (d->frames++ < kNearBehind) return false;

  memmove(d->near_rows[0], d->near_rows[1], (kFarFrames - 1) * sizeof d->near_rows[0]);
  float* const near = d->near_rows[kFarFrames - 1];
  memset(near, 0, sizeof d->near_rows[0]);
  if (behind <= kNearBehind) {
    memcpy(near, kNearBias, sizeof d->near_rows[0]);
    for (uint32_t tap = 0; tap < kTaps; ++tap)
      add_products(d->rows[tap], kWidth, kNearWeight + size_t{tap} * kWidth * kWidth, near);
    rectify(near);
  }
  if (d->frames <= MOTE_SPEECH_DELAY) return false;

  float far[kWidth];
  memcpy(far, kFarBias, sizeof far);
  for (uint32_t tap = 0; tap < kTaps; ++tap)
    add_products(d->near_rows[tap * kFarStep], kWidth, kFarWeight + size_t{tap} * kWidth * kWidth, far);
  rectify(far);
  float logit = kOutBias[0];
  for (uint32_t i = 0; i < kWidth; ++i) logit += far[i] * kOutWeight[i];
  *probability = 1.0f / (1.0f + expf(-logit));
  return true;
}

/// Sets between which edges of bands a bin lies, and how far.
void place_bin(mote_speech_detector* d, uint32_t bin, double place) {
  const auto edge = static_cast<uint32_t>(place < 0 ? 0 : place);
  const bool is_in = place >= 0 && edge <= kBands;
  d->edges[bin] = static_cast<uint8_t>(is_in ? edge : kBelow);
  d->rising[bin] = is_in ? static_cast<float>(place - edge) : 0.0f;
}

/// Adds samples at half the rate: of each of the pairs the first, with a quarter of its neighbours.
void halve_pairs(mote_speech_detector* d, const float* pairs, uint32_t count) {
  float* const halved = d->samples + d->held;
  halved[0] = 0.25f * d->pending[0] + 0.5f * bounded(pairs[0]) + 0.25f * bounded(pairs[1]);
  for (uint32_t i = 1; i < count; ++i) {
    const float* const sample = pairs + 2 * i;
    halved[i] = 0.25f * bounded(sample[-1]) + 0.5f * bounded(sample[0]) + 0.25f * bounded(sample[1]);
  }
  d->pending[0] = bounded(pairs[2 * count - 1]);
  d->held += count;
}

bool take_frame(mote_speech_detector* d, float* probability) {
  float features[2 * kBands], row[kWidth];
  make_features(d, features);
  memcpy(row, kRowsBias, sizeof row);
  add_products(features, 2 * kBands, kRowsWeight, row);
  rectify(row);
  return advance(d, row, 0, probability);
}

}  // namespace
}  // namespace mote::activity

extern "C" {

void mote_speech_start(mote_speech_detector* d) {
  memset(d, 0, sizeof *d);
  const double first = mote::activity::mels_of(mote::activity::kLowest),
               last = mote::activity::mels_of(mote::activity::kHighest);
  for (uint32_t i = 0; i <= mote::activity::kHalf; ++i) {
    d->window[i] =
        static_cast<float>(0.5 - 0.5 * cos(2.0 * mote::activity::kPi * i / mote::activity::kSamples));
    const double place =
        (mote::activity::mels_of(mote::activity::kHalfRate * i / mote::activity::kSamples) - first) /
        (last - first);
    mote::activity::place_bin(d, i, place * (mote::activity::kBands + 1));
  }
  for (uint32_t i = 0; i < mote::activity::kHalf; ++i) {
    d->cosines[i] = static_cast<float>(cos(2.0 * mote::activity::kPi * i / mote::activity::kSamples));
    d->sines[i] = static_cast<float>(-sin(2.0 * mote::activity::kPi * i / mote::activity::kSamples));
  }
  // Behind place n those of a step over n pairs.
  for (uint32_t pairs = 1; pairs < mote::activity::kHalf; pairs *= 2) {
    for (uint32_t i = 0; i < pairs; ++i) {
      d->turns_real[pairs + i] = d->cosines[i * (mote::activity::kHalf / pairs)];
      d->turns_imaginary[pairs + i] = d->sines[i * (mote::activity::kHalf / pairs)];
    }
  }
}

uint32_t mote_speech_add(mote_speech_detector* d, const float* samples, uint32_t count,
                         float* probabilities) {
  uint32_t known = 0;
  for (uint32_t at = 0; at < count;) {
    if (d->odd == 0 && count - at >= 2) {
      const uint32_t free = mote::activity::kSamples - d->held, given = (count - at) / 2;
      const uint32_t pairs = given < free ? given : free;
      mote::activity::halve_pairs(d, samples + at, pairs);
      at += 2 * pairs;
    } else if (d->odd == 0) {
      d->pending[1] = samples[at++];
      d->odd = 1;
    } else {
      const float pair[2] = {d->pending[1], samples[at++]};
      mote::activity::halve_pairs(d, pair, 1);
      d->odd = 0;
    }
    if (d->held < mote::activity::kSamples) continue;
    d->held = 0;
    if (mote::activity::take_frame(d, probabilities + known)) ++known;
  }
  return known;
}

uint32_t mote_speech_finish(mote_speech_detector* d, float* probabilities) {
  constexpr uint64_t kDelay = MOTE_SPEECH_DELAY;
  const uint64_t left = d->frames < kDelay ? d->frames : kDelay;
  uint32_t known = 0;
  for (uint32_t behind = 1; behind <= kDelay && known < left; ++behind) {
    if (mote::activity::advance(d, nullptr, behind, probabilities + known)) ++known;
  }
  return known;
}

}  // extern "C"
