// SPDX-License-Identifier: Apache-2.0
//
// The real part of the discrete Fourier transform over a sequence (Lee-Thorp et al. 2021), as sums over all
// of its rows: of at most kRows outputs of a sequence at a time, so that each row of in is read less often.
// Angles are reduced in integers; cosines and sines are computed as doubles and rounded once.
#include <math.h>

#include "kernels/time_ops.h"

namespace mote::ref {
namespace {

constexpr uint32_t kRows = 8;

/// Outputs [begin, end) of the sequence whose rows of in begin at `first` and are `count`.
void sum_rows(const FourierArgs& args, uint32_t begin, uint32_t end, uint32_t first, uint32_t count) {
  constexpr double kTurn = 6.283185307179586476925286766559;
  for (uint32_t t = begin; t < end; ++t) {
    for (uint32_t i = 0; i < args.width; ++i) args.out[t][i] = 0.0f;
  }
  for (uint32_t p = 0; p < count; ++p) {
    const float *real = args.in[first + p], *imaginary = real + args.width;
    for (uint32_t t = begin; t < end; ++t) {
      const uint64_t position = static_cast<uint32_t>(args.positions[t]);
      const double angle = kTurn * static_cast<double>(position * p % count) / static_cast<double>(count);
      const float cosine = static_cast<float>(cos(angle)), sine = static_cast<float>(sin(angle));
      float* out = args.out[t];
      for (uint32_t i = 0; i < args.width; ++i) out[i] += cosine * real[i] + sine * imaginary[i];
    }
  }
}

}  // namespace

void fourier_f32(const FourierArgs& args, Range units, void*) {
  for (uint32_t begin = units.begin, end; begin < units.end; begin = end) {
    const uint32_t first = begin - static_cast<uint32_t>(args.positions[begin]);
    const uint32_t count = static_cast<uint32_t>(args.last_seen[begin]) + 1;
    end = first + count < units.end ? first + count : units.end;
    if (end - begin > kRows) end = begin + kRows;
    sum_rows(args, begin, end, first, count);
  }
}

}  // namespace mote::ref
