// SPDX-License-Identifier: Apache-2.0
//
// Log-mel features. A frame's spectrum is computed in double precision, in two steps for the factors of the
// transform's length (Cooley and Tukey 1965).
#include "mote/sound.h"

#include <math.h>

#include "runtime/error.h"

namespace mote {
namespace {

constexpr double kTurn = 6.283185307179586476925287;
constexpr float kLeastPower = 1e-10f, kRange = 8.0f;

/// Tables and intermediate values for transforms of n = a * b real numbers.
struct Transform {
  uint32_t n, a, b;
  double *cosines, *sines, *window;  // [n]
  double* frame;                     // [n]
  double *real, *imaginary;          // [a, b]: of each residue's part
};

/// The largest divisor of n not above its root.
uint32_t lesser_factor(uint32_t n) {
  uint32_t factor = 1;
  for (uint32_t i = 2; i * i <= n; ++i) factor = n % i == 0 ? i : factor;
  return factor;
}

Transform make_transform(uint32_t n, double* scratch) {
  Transform t{n,
              lesser_factor(n),
              0,
              scratch,
              scratch + n,
              scratch + 2 * size_t{n},
              scratch + 3 * size_t{n},
              scratch + 4 * size_t{n},
              scratch + 5 * size_t{n}};
  t.b = n / t.a;
  for (uint32_t i = 0; i < n; ++i) {
    const double angle = kTurn * i / n;
    t.cosines[i] = cos(angle);
    t.sines[i] = sin(angle);
    t.window[i] = 0.5 - 0.5 * t.cosines[i];
  }
  return t;
}

/// The parts of the transform of every a-th number of the frame.
void transform_parts(const Transform& t) {
  for (uint32_t i = 0; i < t.a; ++i) {
    for (uint32_t k = 0; k < t.b; ++k) {
      double real = 0.0, imaginary = 0.0;
      uint32_t angle = 0;
      for (uint32_t j = 0; j < t.b; ++j) {
        const double x = t.frame[t.a * j + i];
        real += x * t.cosines[angle];
        imaginary -= x * t.sines[angle];
        angle = (angle + t.a * k) % t.n;
      }
      t.real[i * t.b + k] = real;
      t.imaginary[i * t.b + k] = imaginary;
    }
  }
}

double power(const Transform& t, uint32_t bin) {
  double real = 0.0, imaginary = 0.0;
  for (uint32_t i = 0; i < t.a; ++i) {
    const uint32_t at = i * t.b + bin % t.b;
    const uint32_t angle = static_cast<uint32_t>(uint64_t{i} * bin % t.n);
    const double c = t.cosines[angle], s = -t.sines[angle];
    real += t.real[at] * c - t.imaginary[at] * s;
    imaginary += t.real[at] * s + t.imaginary[at] * c;
  }
  return real * real + imaginary * imaginary;
}

/// Sample i of the sound reflected at its ends.
float reflected(const float* samples, int64_t n, int64_t i) {
  if (i < 0) i = -i;
  if (i >= n) i = 2 * (n - 1) - i;
  return samples[i];
}

double hertz_to_mel(double hertz) {
  return hertz < 1000.0 ? hertz * 3.0 / 200.0 : 15.0 + log(hertz / 1000.0) * 27.0 / log(6.4);
}
double mel_to_hertz(double mel) {
  return mel < 15.0 ? mel * 200.0 / 3.0 : 1000.0 * exp(log(6.4) / 27.0 * (mel - 15.0));
}

}  // namespace
}  // namespace mote

using namespace mote;

extern "C" {

size_t mote_log_mel_bytes(const mote_log_mel* spec) { return 7 * size_t{spec->fft} * sizeof(double); }

mote_status mote_log_mel_compute(const mote_log_mel* spec, const float* samples, uint32_t n, void* scratch,
                                 float* features, mote_error* error) {
  const uint32_t fft = spec->fft, bins = spec->bins;
  if (fft < 2 || fft > MOTE_MOST_FFT || fft % 2 != 0 || bins != fft / 2 + 1 || spec->hop == 0 ||
      spec->mels == 0 || spec->filters == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "log-mel features of ", fft, " samples, ", bins, " bins, ",
                spec->mels, " mels, a hop of ", spec->hop);
  }
  if (n <= fft / 2) {
    return fail(error, MOTE_INVALID_ARGUMENT, "log-mel features of ", n, " samples; it takes more than ",
                fft / 2);
  }
  const Transform t = make_transform(fft, static_cast<double*>(scratch));
  double* const powers = static_cast<double*>(scratch) + 6 * size_t{fft};
  const uint32_t frames = n / spec->hop;
  const uint64_t count = uint64_t{frames} * spec->mels;
  float largest = -INFINITY;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    const int64_t first = int64_t{frame} * spec->hop - fft / 2;
    for (uint32_t i = 0; i < fft; ++i)
      t.frame[i] = t.window[i] * static_cast<double>(reflected(samples, n, first + i));
    transform_parts(t);
    for (uint32_t bin = 0; bin < bins; ++bin) powers[bin] = power(t, bin);
    for (uint32_t mel = 0; mel < spec->mels; ++mel) {
      const float* filter = spec->filters + size_t{mel} * bins;
      double sum = 0.0;
      for (uint32_t bin = 0; bin < bins; ++bin) sum += static_cast<double>(filter[bin]) * powers[bin];
      const float value = log10f(fmaxf(static_cast<float>(sum), kLeastPower));
      features[uint64_t{frame} * spec->mels + mel] = value;
      largest = value > largest ? value : largest;
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    const float value = features[i] < largest - kRange ? largest - kRange : features[i];
    features[i] = (value + 4.0f) / 4.0f;
  }
  return MOTE_OK;
}

void mote_mel_filters(uint32_t rate, uint32_t mels, uint32_t bins, float* filters) {
  const double half = rate / 2.0, last = hertz_to_mel(half);
  const auto edge = [&](uint32_t i) { return mel_to_hertz(last * i / (mels + 1)); };
  for (uint32_t mel = 0; mel < mels; ++mel) {
    const double low = edge(mel), centre = edge(mel + 1), high = edge(mel + 2);
    for (uint32_t bin = 0; bin < bins; ++bin) {
      const double hertz = half * bin / (bins - 1);
      const double rising = (hertz - low) / (centre - low), falling = (high - hertz) / (high - centre);
      const double height = rising < falling ? rising : falling;
      filters[size_t{mel} * bins + bin] =
          static_cast<float>(height > 0.0 ? height * 2.0 / (high - low) : 0.0);
    }
  }
}

}  // extern "C"
