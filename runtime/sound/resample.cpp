// SPDX-License-Identifier: Apache-2.0
//
// Sound at another rate (Smith 1984): weights in double precision, kept in single, whose products are summed
// in double precision.
#include <math.h>

#include "mote/sound.h"
#include "runtime/error.h"

namespace mote {
namespace {

constexpr double kTurn = 3.141592653589793238462643;
constexpr double kPassed = 0.9;            // of half the lower rate
constexpr double kZeros = 16.0;            // of the sinc, on each side
constexpr double kBeta = 8.0;              // of the Kaiser window: 80 dB
constexpr uint32_t kMostUp = 4096;         // times between samples that are told apart
constexpr uint32_t kFastestRate = 768000;  // samples a second
constexpr int kBesselTerms = 50;

uint32_t common_divisor(uint32_t a, uint32_t b) {
  while (b != 0) {
    const uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// The modified Bessel function of order 0.
double bessel(double x) {
  double sum = 1.0, term = 1.0;
  for (int k = 1; k < kBesselTerms; ++k) {
    term *= (x / (2.0 * k)) * (x / (2.0 * k));
    sum += term;
  }
  return sum;
}

double sinc(double x) {
  const double angle = kTurn * x;
  return fabs(angle) < 1e-9 ? 1.0 : sin(angle) / angle;
}

/// The share of all frequencies that is let through.
double cutoff_of(const mote_resampling& spec) {
  return spec.down <= spec.up ? kPassed : kPassed * spec.up / spec.down;
}

}  // namespace
}  // namespace mote

using namespace mote;

extern "C" {

mote_status mote_resampling_of(uint32_t from, uint32_t to, mote_resampling* spec, mote_error* error) {
  const bool rates = from > 0 && to > 0 && from <= kFastestRate && to <= kFastestRate;
  const uint32_t common = rates ? common_divisor(from, to) : 1;
  if (!rates || to / common > kMostUp) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sound of ", from, " samples a second cannot be resampled to ",
                to);
  }
  *spec = {to / common, from / common, 0, 0};
  if (spec->up != spec->down) spec->reach = static_cast<uint32_t>(ceil(kZeros / cutoff_of(*spec)));
  return MOTE_OK;
}

size_t mote_resample_bytes(const mote_resampling* spec) {
  const uint64_t bytes = uint64_t{spec->up} * 2 * spec->reach * sizeof(float);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

void mote_resample_init(const mote_resampling* spec, float* weights) {
  const uint32_t width = 2 * spec->reach;
  const double cutoff = cutoff_of(*spec);
  for (uint32_t phase = 0; spec->reach != 0 && phase < spec->up; ++phase, weights += width) {
    double sum = 0.0;
    for (uint32_t i = 0; i < width; ++i) {
      const double distance =
          static_cast<double>(i) - (spec->reach - 1) - static_cast<double>(phase) / spec->up;
      const double edge = distance / spec->reach;
      const double window = fabs(edge) >= 1.0 ? 0.0 : bessel(kBeta * sqrt(1.0 - edge * edge));
      const double weight = sinc(distance * cutoff) * window;
      weights[i] = static_cast<float>(weight);
      sum += weight;
    }
    for (uint32_t i = 0; i < width; ++i) weights[i] = static_cast<float>(weights[i] / sum);
  }
}

uint64_t mote_resample_count(const mote_resampling* spec, uint64_t n) {
  const uint64_t whole = n / spec->down, rest = n % spec->down;
  return whole * spec->up + (rest * spec->up + spec->down - 1) / spec->down;
}

void mote_resample(const mote_resampling* spec, const float* weights, const float* samples, uint64_t begin,
                   uint64_t n, uint64_t first, uint32_t count, float* out) {
  const uint64_t reach = spec->reach;
  for (uint32_t written = 0; written < count; ++written) {
    const uint64_t time = (first + written) * spec->down;
    const uint64_t at = time / spec->up;
    if (reach == 0) {
      out[written] = at >= begin && at - begin < n ? samples[at - begin] : 0.0f;
      continue;
    }
    const float* const row = weights + time % spec->up * 2 * reach;
    double sum = 0.0;
    for (uint64_t i = 0; i < 2 * reach; ++i) {
      const uint64_t shifted = at + i + 1;  // of the sample, plus reach
      if (shifted < reach + begin || shifted - reach - begin >= n) continue;
      sum += static_cast<double>(row[i]) * static_cast<double>(samples[shifted - reach - begin]);
    }
    out[written] = static_cast<float>(sum);
  }
}

}  // extern "C"
