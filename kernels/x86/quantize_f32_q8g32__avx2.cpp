// SPDX-License-Identifier: Apache-2.0
//
// Each group of 32 columns by itself. Equal to the reference bitwise.
//
// Reducing one group at a time to its largest magnitude and its sum is a chain of shuffles and two divisions.
// Eight groups are reduced together: a tree of shuffles leaves the result of group i in lane i, and two
// divisions serve all.
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote::avx2 {
namespace {

constexpr uint32_t kTogether = 8;  // groups

/// Lane i: the lanes of x[i] combined.
template <class Combine>
__m256i combine_lanes(const __m256i x[kTogether], Combine combine) {
  __m256i quarter[4], half[2];
  MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    quarter[i] =
        combine(_mm256_unpacklo_epi32(x[2 * i], x[2 * i + 1]), _mm256_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  }
  MOTE_UNROLL for (uint32_t i = 0; i < 2; ++i) {
    half[i] = combine(_mm256_unpacklo_epi64(quarter[2 * i], quarter[2 * i + 1]),
                      _mm256_unpackhi_epi64(quarter[2 * i], quarter[2 * i + 1]));
  }
  return combine(_mm256_permute2x128_si256(half[0], half[1], 0x20),
                 _mm256_permute2x128_si256(half[0], half[1], 0x31));
}

/// scale_of for 8 groups; those that are 0 in `kept` have q 0.
struct GroupScales {
  __m256 scale, inverse;
  __m256i kept;
};
GroupScales scales_of(__m256i bits) {
  const __m256 absmax = _mm256_castsi256_ps(bits), most = _mm256_set1_ps(127.0f);
  const __m256i finite = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F800000), bits);
  const __m256 large = _mm256_cmp_ps(absmax, _mm256_set1_ps(0x1p-100f), _CMP_GE_OQ);
  const __m256 scale = _mm256_and_ps(_mm256_div_ps(absmax, most), large);
  return {_mm256_blendv_ps(_mm256_set1_ps(__builtin_nanf("")), scale, _mm256_castsi256_ps(finite)),
          _mm256_div_ps(most, absmax), _mm256_and_si256(finite, _mm256_castps_si256(large))};
}

/// The 8 whole groups from `in` on, read twice: 32 vectors do not stay in registers.
void quantize_groups(const float* in, const float* columns, int8_t* q, float* scale, int32_t* sum) {
  __m256i largest[kTogether], sums[kTogether];
  __m256 x[kGroupVectors];
  MOTE_UNROLL for (uint32_t g = 0; g < kTogether; ++g) {
    load_group(in, columns, kTogether * kGroupColumns, g * kGroupColumns, x);
    largest[g] = largest_bits(x);
  }
  const GroupScales scales =
      scales_of(combine_lanes(largest, [](__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }));
  alignas(32) float inverse[kTogether];
  alignas(32) int32_t kept[kTogether];
  _mm256_store_ps(inverse, scales.inverse);
  _mm256_store_si256(reinterpret_cast<__m256i*>(kept), scales.kept);
  MOTE_UNROLL for (uint32_t g = 0; g < kTogether; ++g) {
    load_group(in, columns, kTogether * kGroupColumns, g * kGroupColumns, x);
    const __m256i bytes =
        _mm256_and_si256(round_to_bytes(x, _mm256_broadcast_ss(inverse + g)), _mm256_set1_epi32(kept[g]));
    _mm256_store_si256(reinterpret_cast<__m256i*>(q + g * kGroupColumns), bytes);
    sums[g] = sum_bytes(bytes);
  }
  _mm256_storeu_ps(scale, scales.scale);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum),
                      combine_lanes(sums, [](__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }));
}

void quantize_group(const __m256 x[kGroupVectors], int8_t* q, float* scale, int32_t* sum) {
  const GroupScale group = scale_of(max_lanes(largest_bits(x)));
  __m256i bytes = _mm256_setzero_si256();
  if (group.inverse != 0.0f) bytes = round_to_bytes(x, _mm256_set1_ps(group.inverse));
  _mm256_store_si256(reinterpret_cast<__m256i*>(q), bytes);
  *scale = group.scale;
  *sum = sum_lanes(sum_bytes(bytes));
}

void quantize_row(const float* in, const float* columns, uint32_t width, char* out) {
  auto* q = reinterpret_cast<int8_t*>(out);
  auto* scale = reinterpret_cast<float*>(out + activation_scale_offset(width));
  auto* sum = reinterpret_cast<int32_t*>(out + activation_sum_offset(width));
  const size_t groups = activation_padded(width) / kGroupColumns;
  size_t group = 0;
  for (; (group + kTogether) * kGroupColumns <= width; group += kTogether) {
    const size_t column = group * kGroupColumns;
    quantize_groups(in + column, columns == nullptr ? nullptr : columns + column, q + column, scale + group,
                    sum + group);
  }
  for (; group < groups; ++group) {
    const size_t column = group * kGroupColumns;
    __m256 x[kGroupVectors];
    load_group(in, columns, width, column, x);
    quantize_group(x, q + column, scale + group, sum + group);
  }
}

}  // namespace

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    char* out = static_cast<char*>(args.out) + row * args.out_stride_bytes;
    quantize_row(args.in[row], args.columns, args.width, out);
  }
}

}  // namespace mote::avx2
