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

/// The 8 whole groups from `in` on, read twice: 32 vectors do not stay in registers.
void quantize_groups(const float* in, const float* columns, int8_t* q, float* scale, int32_t* sum) {
  __m256i largest[kLanes], sums[kLanes];
  __m256 x[kGroupVectors];
  MOTE_UNROLL for (uint32_t g = 0; g < kLanes; ++g) {
    load_group(in, columns, kLanes * kGroupColumns, g * kGroupColumns, x);
    largest[g] = largest_bits(x);
  }
  const GroupScales scales =
      scales_of(combine_lanes(largest, [](__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }));
  alignas(32) float inverse[kLanes];
  alignas(32) int32_t kept[kLanes];
  _mm256_store_ps(inverse, scales.inverse);
  _mm256_store_si256(reinterpret_cast<__m256i*>(kept), scales.kept);
  MOTE_UNROLL for (uint32_t g = 0; g < kLanes; ++g) {
    load_group(in, columns, kLanes * kGroupColumns, g * kGroupColumns, x);
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
  for (; (group + kLanes) * kGroupColumns <= width; group += kLanes) {
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
