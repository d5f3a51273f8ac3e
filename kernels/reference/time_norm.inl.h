// SPDX-License-Identifier: Apache-2.0
//
// The statistics that all kernels of norms over time share: means and deviations, equal to the bit in each
// kernel. The variance takes a second pass over v - mean; sums are doubles, so that the rounding of a value
// is what is left of a float's.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote {
namespace {

constexpr uint32_t kTimeNormAhead = 8;  // rows, which lie too far apart for a processor's own prefetches

/// Columns [begin, end) of rows [first, last), each normed by itself: `mean` and `scale` have one for each.
inline void column_statistics(const TimeNormArgs& args, uint32_t first, uint32_t last, uint32_t begin,
                              uint32_t end, double* mean, double* scale) {
  const uint32_t columns = end - begin;
  const double count = static_cast<double>(last - first);
  double sums[kTimeNormColumns] = {}, squares[kTimeNormColumns] = {};
  const auto row = [&](uint32_t t) {
    __builtin_prefetch(args.in[t + kTimeNormAhead < last ? t + kTimeNormAhead : t] + begin);
    return args.in[t] + begin;
  };
  for (uint32_t t = first; t < last; ++t) {
    const float* in = row(t);
    for (uint32_t i = 0; i < columns; ++i) sums[i] += static_cast<double>(in[i]);
  }
  for (uint32_t i = 0; i < columns; ++i) mean[i] = sums[i] / count;
  for (uint32_t t = first; t < last; ++t) {
    const float* in = row(t);
    for (uint32_t i = 0; i < columns; ++i) {
      const double centred = static_cast<double>(in[i]) - mean[i];
      squares[i] += centred * centred;
    }
  }
  for (uint32_t i = 0; i < columns; ++i)
    scale[i] = 1.0 / sqrt(squares[i] / count + static_cast<double>(args.eps));
}

/// Computes the statistics of all columns together.
inline void part_statistics(const TimeNormArgs& args, uint32_t first, uint32_t last, uint32_t begin,
                            uint32_t end, double* mean, double* scale) {
  const double count = static_cast<double>(last - first) * (end - begin);
  double sum = 0.0, squares = 0.0;
  for (uint32_t t = first; t < last; ++t) {
    for (uint32_t i = begin; i < end; ++i) sum += static_cast<double>(args.in[t][i]);
  }
  *mean = sum / count;
  for (uint32_t t = first; t < last; ++t) {
    for (uint32_t i = begin; i < end; ++i) {
      const double centred = static_cast<double>(args.in[t][i]) - *mean;
      squares += centred * centred;
    }
  }
  *scale = 1.0 / sqrt(squares / count + static_cast<double>(args.eps));
}

/// Calls finish(t, begin, end, mean, scale, step) for columns [begin, end) of each row t: mean and scale of
/// column i are those at (i - begin) * step.
template <class Finish>
void time_norm_units(const TimeNormArgs& args, Range units, const Finish& finish) {
  const uint32_t columns = args.columns_of_unit(), each = args.groups == args.width ? 1 : 0;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t s = args.first + unit / args.units_of_sequence();
    const uint32_t begin = unit % args.units_of_sequence() * columns;
    const uint32_t end = args.width - begin < columns ? args.width : begin + columns;
    const uint32_t first = args.starts[s] - args.starts[args.first];
    const uint32_t last = args.starts[s + 1] - args.starts[args.first];
    double mean[kTimeNormColumns], scale[kTimeNormColumns];
    (each != 0 ? column_statistics : part_statistics)(args, first, last, begin, end, mean, scale);
    for (uint32_t t = first; t < last; ++t) finish(t, begin, end, mean, scale, each);
  }
}

inline float normed(float value, double mean, double scale) {
  return static_cast<float>((static_cast<double>(value) - mean) * scale);
}

}  // namespace
}  // namespace mote
