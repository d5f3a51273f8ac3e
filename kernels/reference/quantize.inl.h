// SPDX-License-Identifier: Apache-2.0
//
// Quantizing a group, which is 32 columns or a row.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

/// Column k of a row, multiplied by its factor.
static inline float quantized_value(const QuantizeArgs& args, uint32_t row, uint32_t k) {
  return args.columns == nullptr ? args.in[row][k] : args.in[row][k] * args.columns[k];
}

/// inverse 0 makes every q of a group 0.
struct GroupScale {
  float scale, inverse;
};

/// scale = absmax / 127, inverse = 127 / absmax of the n columns of a row from `first` on.
static inline GroupScale group_scale(const QuantizeArgs& args, uint32_t row, uint32_t first, uint32_t n) {
  float absmax = 0.0f;
  bool finite = true;
  for (uint32_t i = 0; i < n; ++i) {
    const float x = quantized_value(args, row, first + i);
    finite = finite && isfinite(x);
    absmax = fmaxf(absmax, fabsf(x));
  }
  if (!finite) return {NAN, 0.0f};
  if (absmax < 0x1p-100f) return {0.0f, 0.0f};
  return {absmax / 127.0f, 127.0f / absmax};
}

/// q of column k: round to nearest even(x * inverse). In a file out may overlap in; then x may have changed
/// after the scale was computed, and q is 0 where it does not fit a byte.
static inline int8_t quantized(const QuantizeArgs& args, uint32_t row, uint32_t k, const GroupScale& group) {
  if (group.inverse == 0.0f) return 0;
  const float q = rintf(quantized_value(args, row, k) * group.inverse);
  return q >= -127.0f && q <= 127.0f ? static_cast<int8_t>(q) : int8_t{0};
}

/// The n columns of a row from `first` on, and the sum of their q. q [padded], n <= padded, the rest being 0.
static inline void quantize_group(const QuantizeArgs& args, uint32_t row, uint32_t first, uint32_t n,
                                  uint32_t padded, int8_t* q, float* scale, int32_t* sum) {
  const GroupScale group = group_scale(args, row, first, n);
  *scale = group.scale;
  *sum = 0;
  for (uint32_t i = 0; i < padded; ++i) {
    q[i] = i < n ? quantized(args, row, first + i, group) : int8_t{0};
    *sum += q[i];
  }
}

/// each(t, k, n, q, scale, sum) for the groups of 32 columns of the rows: n columns from k on, the rest of
/// the group being padding.
template <class Each>
static inline void each_group(const QuantizeArgs& args, Range rows, const Each& each) {
  const auto padded = static_cast<uint32_t>(activation_padded(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* q = reinterpret_cast<int8_t*>(row);
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(args.width));
    auto* sum = reinterpret_cast<int32_t*>(row + activation_sum_offset(args.width));
    for (uint32_t k = 0; k < padded; k += kGroupColumns) {
      const uint32_t left = k < args.width ? args.width - k : 0;
      each(t, k, left < kGroupColumns ? left : kGroupColumns, q + k, scale++, sum++);
    }
  }
}

/// each(t, padded, q, scale, sum) for the rows, each a group of so many columns with its padding.
template <class Each>
static inline void each_row(const QuantizeArgs& args, Range rows, const Each& each) {
  const auto padded = static_cast<uint32_t>(activation_padded(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* of_row = reinterpret_cast<RowScale*>(row + activation_scale_offset(args.width));
    each(t, padded, reinterpret_cast<int8_t*>(row), &of_row->scale, &of_row->sum);
  }
}

}  // namespace mote::ref
