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
constexpr float kLeastPower = 1e-10f, kRange = 8.0f, kGuard = 0x1p-24f, kLeastDeviation = 1e-5f;

/// Tables and intermediate values for transforms of n = a * b real numbers.
struct Transform {
  uint32_t n, a, b, bins;
  double* window;                     // [n]
  double *part_cosines, *part_sines;  // [b, b]: of transforms of b numbers
  double *bin_cosines, *bin_sines;    // [a, bins]: what joins them
  double* frame;                      // [n]
  double *real, *imaginary;           // [b]: of one part
  double *bin_real, *bin_imaginary;   // [bins]
  double* powers;                     // [bins]
  uint32_t *first, *end;              // [mels]: the bins that a filter has
};

/// The largest divisor of n not above its root.
uint32_t lesser_factor(uint32_t n) {
  uint32_t factor = 1;
  for (uint32_t i = 2; i * i <= n; ++i) factor = n % i == 0 ? i : factor;
  return factor;
}

/// Says whether sizes are of features that there are; tables are laid out for no others.
bool is_sized(const mote_log_mel& spec) {
  return spec.fft >= 2 && spec.fft <= MOTE_MOST_FFT && spec.fft % 2 == 0 && spec.bins == spec.fft / 2 + 1;
}

/// Places the tables; the doubles that they take, the places of filters included.
uint64_t place_tables(const mote_log_mel& spec, double* scratch, Transform* t) {
  t->n = spec.fft;
  t->a = lesser_factor(t->n);
  t->b = t->n / t->a;
  t->bins = spec.bins;
  uint64_t taken = 0;
  const auto take = [&](uint64_t count) {
    double* const from = scratch == nullptr ? nullptr : scratch + taken;
    taken += count;
    return from;
  };
  const uint64_t square = uint64_t{t->b} * t->b, joins = uint64_t{t->a} * t->bins;
  t->window = take(t->n);
  t->part_cosines = take(square);
  t->part_sines = take(square);
  t->bin_cosines = take(joins);
  t->bin_sines = take(joins);
  t->frame = take(t->n);
  t->real = take(t->b);
  t->imaginary = take(t->b);
  t->bin_real = take(t->bins);
  t->bin_imaginary = take(t->bins);
  t->powers = take(t->bins);
  t->first = reinterpret_cast<uint32_t*>(take(spec.mels));
  t->end = scratch == nullptr ? nullptr : t->first + spec.mels;
  return taken;
}

Transform make_transform(const mote_log_mel& spec, void* scratch) {
  Transform t;
  place_tables(spec, static_cast<double*>(scratch), &t);
  const auto angle = [&](uint64_t i) { return kTurn * static_cast<double>(i % t.n) / t.n; };
  for (uint32_t i = 0; i < t.n; ++i) t.window[i] = spec.window == 0 ? 0.5 - 0.5 * cos(angle(i)) : 0.0;
  const uint32_t first = (t.n - spec.window) / 2;
  for (uint32_t i = 0; i < spec.window; ++i)
    t.window[first + i] = 0.5 - 0.5 * cos(kTurn * i / (spec.window - 1));
  for (uint32_t j = 0; j < t.b; ++j) {
    for (uint32_t k = 0; k < t.b; ++k) {
      t.part_cosines[j * t.b + k] = cos(angle(uint64_t{t.a} * j * k));
      t.part_sines[j * t.b + k] = -sin(angle(uint64_t{t.a} * j * k));
    }
  }
  for (uint32_t i = 0; i < t.a; ++i) {
    for (uint32_t bin = 0; bin < t.bins; ++bin) {
      t.bin_cosines[i * t.bins + bin] = cos(angle(uint64_t{i} * bin));
      t.bin_sines[i * t.bins + bin] = -sin(angle(uint64_t{i} * bin));
    }
  }
  for (uint32_t mel = 0; mel < spec.mels; ++mel) {
    const float* filter = spec.filters + size_t{mel} * t.bins;
    t.first[mel] = 0;
    t.end[mel] = t.bins;
    while (t.first[mel] < t.bins && filter[t.first[mel]] == 0.0f) ++t.first[mel];
    while (t.end[mel] > t.first[mel] && filter[t.end[mel] - 1] == 0.0f) --t.end[mel];
  }
  return t;
}

/// The transform of every a-th number of the frame from the i-th on, at the first b frequencies.
void transform_part(const Transform& t, uint32_t i) {
  for (uint32_t k = 0; k < t.b; ++k) t.real[k] = t.imaginary[k] = 0.0;
  for (uint32_t j = 0; j < t.b; ++j) {
    const double x = t.frame[t.a * j + i];
    const double *cosines = t.part_cosines + j * t.b, *sines = t.part_sines + j * t.b;
    for (uint32_t k = 0; k < t.b; ++k) {
      t.real[k] += x * cosines[k];
      t.imaginary[k] += x * sines[k];
    }
  }
}

/// The powers of the frame's spectrum.
void transform(const Transform& t) {
  for (uint32_t bin = 0; bin < t.bins; ++bin) t.bin_real[bin] = t.bin_imaginary[bin] = 0.0;
  for (uint32_t i = 0; i < t.a; ++i) {
    transform_part(t, i);
    const double *cosines = t.bin_cosines + size_t{i} * t.bins, *sines = t.bin_sines + size_t{i} * t.bins;
    for (uint32_t from = 0; from < t.bins; from += t.b) {
      const uint32_t count = t.bins - from < t.b ? t.bins - from : t.b;
      for (uint32_t k = 0; k < count; ++k) {
        const uint32_t bin = from + k;
        t.bin_real[bin] += t.real[k] * cosines[bin] - t.imaginary[k] * sines[bin];
        t.bin_imaginary[bin] += t.real[k] * sines[bin] + t.imaginary[k] * cosines[bin];
      }
    }
  }
  for (uint32_t bin = 0; bin < t.bins; ++bin)
    t.powers[bin] = t.bin_real[bin] * t.bin_real[bin] + t.bin_imaginary[bin] * t.bin_imaginary[bin];
}

/// Logarithms of the filtered powers of the transform's frame.
void frame_features(const mote_log_mel& spec, const Transform& t, float* features) {
  transform(t);
  for (uint32_t mel = 0; mel < spec.mels; ++mel) {
    const float* filter = spec.filters + size_t{mel} * t.bins;
    double sum = 0.0;
    for (uint32_t bin = t.first[mel]; bin < t.end[mel]; ++bin)
      sum += static_cast<double>(filter[bin]) * t.powers[bin];
    const auto power = static_cast<float>(sum);
    features[mel] = spec.natural != 0 ? logf(power + kGuard) : log10f(fmaxf(power, kLeastPower));
  }
}

mote_status check_spec(const mote_log_mel& spec, mote_error* error) {
  const bool windowed = spec.window != 1 && spec.window <= spec.fft;
  if (is_sized(spec) && windowed && spec.hop != 0 && spec.mels != 0 && spec.filters != nullptr)
    return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "log-mel features of ", spec.fft, " samples, ", spec.bins,
              " bins, ", spec.mels, " mels, a hop of ", spec.hop);
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

/// Fills [mels, bins] with triangles of equal area, evenly spaced between two frequencies on Slaney's scale.
void fill_filters(uint32_t rate, double lowest, double highest, uint32_t mels, uint32_t bins,
                  float* filters) {
  const double half = rate / 2.0, first = hertz_to_mel(lowest), last = hertz_to_mel(highest);
  const auto edge = [&](uint32_t i) { return mel_to_hertz(first + (last - first) * i / (mels + 1)); };
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

}  // namespace
}  // namespace mote

using namespace mote;

extern "C" {

size_t mote_log_mel_bytes(const mote_log_mel* spec) {
  if (!is_sized(*spec)) return 0;
  Transform unused;
  const uint64_t bytes = place_tables(*spec, nullptr, &unused) * sizeof(double);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;  // no object is larger
}

mote_status mote_log_mel_compute(const mote_log_mel* spec, const float* samples, uint32_t n, void* scratch,
                                 float* features, mote_error* error) {
  const mote_status status = check_spec(*spec, error);
  if (status != MOTE_OK) return status;
  const uint32_t fft = spec->fft, frames = n / spec->hop;
  if (n <= fft / 2) {
    return fail(error, MOTE_INVALID_ARGUMENT, "log-mel features of ", n, " samples; it takes more than ",
                fft / 2);
  }
  const Transform t = make_transform(*spec, scratch);
  for (uint32_t frame = 0; frame < frames; ++frame) {
    const int64_t first = int64_t{frame} * spec->hop - fft / 2;
    for (uint32_t i = 0; i < fft; ++i)
      t.frame[i] = t.window[i] * static_cast<double>(reflected(samples, n, first + i));
    frame_features(*spec, t, features + uint64_t{frame} * spec->mels);
  }
  const uint64_t count = uint64_t{frames} * spec->mels;
  mote_log_mel_scale(features, count, mote_log_mel_largest(features, count));
  return MOTE_OK;
}

mote_status mote_log_mel_frames(const mote_log_mel* spec, const float* samples, uint32_t frames,
                                void* scratch, float* logarithms, mote_error* error) {
  const mote_status status = check_spec(*spec, error);
  if (status != MOTE_OK) return status;
  const Transform t = make_transform(*spec, scratch);
  for (uint32_t frame = 0; frame < frames; ++frame, samples += spec->hop, logarithms += spec->mels) {
    for (uint32_t i = 0; i < spec->fft; ++i) t.frame[i] = t.window[i] * static_cast<double>(samples[i]);
    frame_features(*spec, t, logarithms);
  }
  return MOTE_OK;
}

float mote_log_mel_largest(const float* logarithms, uint64_t count) {
  float largest = -INFINITY;
  for (uint64_t i = 0; i < count; ++i) largest = logarithms[i] > largest ? logarithms[i] : largest;
  return largest;
}

void mote_log_mel_scale(float* features, uint64_t count, float largest) {
  for (uint64_t i = 0; i < count; ++i) {
    const float value = features[i] < largest - kRange ? largest - kRange : features[i];
    features[i] = (value + 4.0f) / 4.0f;
  }
}

void mote_normalize_features(float* features, uint32_t frames, uint32_t mels) {
  for (uint32_t mel = 0; mel < mels; ++mel) {
    double sum = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < frames; ++i) sum += static_cast<double>(features[size_t{i} * mels + mel]);
    const double mean = sum / frames;
    for (uint32_t i = 0; i < frames; ++i) {
      const double centred = static_cast<double>(features[size_t{i} * mels + mel]) - mean;
      squares += centred * centred;
    }
    const double deviation = sqrt(squares / (frames - 1)) + static_cast<double>(kLeastDeviation);
    for (uint32_t i = 0; i < frames; ++i) {
      float& feature = features[size_t{i} * mels + mel];
      feature = static_cast<float>((static_cast<double>(feature) - mean) / deviation);
    }
  }
}

void mote_mel_filters(uint32_t rate, uint32_t mels, uint32_t bins, float* filters) {
  fill_filters(rate, 0.0, rate / 2.0, mels, bins, filters);
}

void mote_mel_filters_between(uint32_t rate, float lowest, float highest, uint32_t mels, uint32_t bins,
                              float* filters) {
  fill_filters(rate, static_cast<double>(lowest), static_cast<double>(highest), mels, bins, filters);
}

}  // extern "C"
