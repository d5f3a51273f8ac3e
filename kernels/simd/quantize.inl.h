// SPDX-License-Identifier: Apache-2.0
//
// Floats to bytes, by groups of 32 columns (q8g32) or by rows (q8c): bitwise equal to the reference.
//
// Reducing one group to its largest magnitude and its sum takes a chain of shuffles and two divisions. So as
// many groups as a vector has lanes are reduced together: a tree of shuffles leaves the result of group i in
// lane i, and two divisions serve all groups. A row of q8c takes two passes; the second reads it from L1 or
// L2.
#pragma once

#include <string.h>

#include "kernels/simd/ints.h"

namespace mote {
namespace {

/// Scale and inverse of a group or row; `inverse` 0 makes every q 0.
struct GroupScale {
  float scale, inverse;
};

/// Those of a group whose largest magnitude has these bits.
static inline GroupScale scale_of(int32_t bits) {
  float absmax;
  memcpy(&absmax, &bits, 4);
  const bool finite = bits < 0x7F800000;
  if (!finite) return {__builtin_nanf(""), 0.0f};
  if (absmax < 0x1p-100f) return {0.0f, 0.0f};
  return {absmax / 127.0f, 127.0f / absmax};
}

/// Stores the scales of kLanes groups.
template <class V>
inline void scales_of(typename V::Int bits, float* scale, float* inverse) {
  using Float = typename V::Float;
  const Float absmax = V::as_float(bits), most = V::set(127.0f), zero = V::set(0.0f);
  const Float least = V::set(0x1p-100f), beyond = V::set(__builtin_inff());
  const Float of_finite = V::where_less(absmax, least, zero, V::div(absmax, most));
  V::store(scale, V::where_less(absmax, beyond, of_finite, V::set(__builtin_nanf(""))));
  const Float by = V::where_less(absmax, least, zero, V::div(most, absmax));
  V::store(inverse, V::where_less(absmax, beyond, by, zero));
}

/// The 32 columns from x on, times the factors `columns` unless that is null.
template <class V>
MOTE_INLINE inline void load_group(const float* from, const float* columns,
                                   typename V::Float (&x)[kGroupVectors<V>]) {
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors<V>; ++i) x[i] = V::load(from + i * V::kLanes);
  if (columns == nullptr) return;
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors<V>; ++i) x[i] =
      V::mul(x[i], V::load(columns + i * V::kLanes));
}

/// Loads a group of fewer than 32 columns; the rest are 0.
template <class V>
inline void load_last_group(const float* from, const float* columns, uint32_t count,
                            typename V::Float (&x)[kGroupVectors<V>]) {
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors<V>; ++i) {
    const uint32_t first = i * V::kLanes;
    x[i] = V::set(0.0f);
    if (first >= count) continue;
    x[i] = V::load_first(from + first, count - first);
    if (columns != nullptr) x[i] = V::mul(x[i], V::load_first(columns + first, count - first));
  }
}

/// Calls step(column, x) for the groups of a row of `width` columns that begin before `end`.
template <class V, class Step>
MOTE_INLINE inline void each_group(const float* row, const float* columns, size_t width, size_t end,
                                   const Step& step) {
  typename V::Float x[kGroupVectors<V>];
  size_t column = 0;
  for (; column + kGroupColumns <= width; column += kGroupColumns) {
    load_group<V>(row + column, columns == nullptr ? nullptr : columns + column, x);
    step(column, x);
  }
  for (; column < end; column += kGroupColumns) {
    const uint32_t left = column < width ? static_cast<uint32_t>(width - column) : 0;
    load_last_group<V>(row + column, columns == nullptr ? nullptr : columns + column, left, x);
    step(column, x);
  }
}

/// Bits of the largest magnitude of each lane, of n vectors.
template <class V, uint32_t n = kGroupVectors<V>>
MOTE_INLINE inline typename V::Int largest_bits(const typename V::Float* x) {
  if constexpr (n == 1) {
    return V::magnitude(x[0]);
  } else {
    return V::max(largest_bits<V, n / 2>(x), largest_bits<V, n / 2>(x + n / 2));
  }
}

/// Returns the bits of the largest magnitude of each lane, of a row.
template <class V>
inline typename V::Int largest_of_row(const float* row, const float* columns, size_t width) {
  typename V::Int bits = V::zero_int();
  each_group<V>(row, columns, width, width,
                [&](size_t, const auto& x) MOTE_INLINE { bits = V::max(bits, largest_bits<V>(x)); });
  return bits;
}

/// The kLanes whole groups from `in` on, read twice: their vectors do not stay in registers.
template <class V>
void quantize_groups(const float* in, const float* columns, int8_t* q, float* scale, int32_t* sum) {
  constexpr uint32_t kGroups = V::kLanes;
  typename V::Int largest[kGroups], sums[kGroups];
  typename V::Float x[kGroupVectors<V>];
  const auto load = [&](uint32_t g) MOTE_INLINE {
    const uint32_t column = g * kGroupColumns;
    load_group<V>(in + column, columns == nullptr ? nullptr : columns + column, x);
  };
  MOTE_UNROLL for (uint32_t g = 0; g < kGroups; ++g) {
    load(g);
    largest[g] = largest_bits<V>(x);
  }
  float inverse[kGroups];
  scales_of<V>(V::max_of_each(largest), scale, inverse);
  MOTE_UNROLL for (uint32_t g = 0; g < kGroups; ++g) {
    load(g);
    const typename V::Float by = V::set(inverse[g]);
    const auto bytes = V::unless_zero(by, V::round_to_bytes(x, by));
    V::store(q + g * kGroupColumns, bytes);
    sums[g] = V::sum_by_lane(bytes);
  }
  V::store(sum, V::sum_of_each(sums));
}

/// A group by itself.
template <class V>
inline void quantize_group(const typename V::Float x[kGroupVectors<V>], int8_t* q, float* scale,
                           int32_t* sum) {
  const GroupScale group = scale_of(V::max_lanes(largest_bits<V>(x)));
  const typename V::Float by = V::set(group.inverse);
  const auto bytes = V::unless_zero(by, V::round_to_bytes(x, by));
  V::store(q, bytes);
  *scale = group.scale;
  *sum = V::sum_lanes(V::sum_by_lane(bytes));
}

template <class V>
void quantize_groups_of_row(const float* in, const float* columns, uint32_t width, char* out) {
  auto* q = reinterpret_cast<int8_t*>(out);
  auto* scale = reinterpret_cast<float*>(out + activation_scale_offset(width));
  auto* sum = reinterpret_cast<int32_t*>(out + activation_sum_offset(width));
  const auto columns_from = [&](size_t column) { return columns == nullptr ? nullptr : columns + column; };
  size_t first = 0;
  for (; first + V::kLanes * kGroupColumns <= width; first += V::kLanes * kGroupColumns) {
    const size_t group = first / kGroupColumns;
    quantize_groups<V>(in + first, columns_from(first), q + first, scale + group, sum + group);
  }
  const size_t padded = static_cast<size_t>(activation_padded(width));
  each_group<V>(in + first, columns_from(first), width - first, padded - first,
                [&](size_t column, const auto& x) {
                  const size_t group = (first + column) / kGroupColumns;
                  quantize_group<V>(x, q + first + column, scale + group, sum + group);
                });
}

template <class V>
void quantize_q8g32(const QuantizeArgs& args, Range rows, void*) {
  static_assert(CheckInts<V>::kPasses);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    char* out = static_cast<char*>(args.out) + row * args.out_stride_bytes;
    quantize_groups_of_row<V>(args.in[row], args.columns, args.width, out);
  }
}

template <class V>
RowScale quantize_row(const float* in, const float* columns, size_t width, char* q) {
  const GroupScale row = scale_of(V::max_lanes(largest_of_row<V>(in, columns, width)));
  const size_t padded = static_cast<size_t>(activation_padded(width));
  if (row.inverse == 0.0f) {
    memset(q, 0, padded);
    return {row.scale, 0};
  }
  const typename V::Float inverse = V::set(row.inverse);
  typename V::Int sum = V::zero_int();
  each_group<V>(in, columns, width, padded, [&](size_t column, const auto& x) MOTE_INLINE {
    const auto bytes = V::round_to_bytes(x, inverse);
    V::store(reinterpret_cast<int8_t*>(q + column), bytes);
    sum = V::add(sum, V::sum_by_lane(bytes));
  });
  return {row.scale, V::sum_lanes(sum)};
}

template <class V>
void quantize_q8c(const QuantizeArgs& args, Range rows, void*) {
  static_assert(CheckInts<V>::kPasses);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    char* out = static_cast<char*>(args.out) + row * args.out_stride_bytes;
    const RowScale scale = quantize_row<V>(args.in[row], args.columns, args.width, out);
    memcpy(out + activation_scale_offset(args.width), &scale, sizeof scale);
  }
}

}  // namespace
}  // namespace mote
