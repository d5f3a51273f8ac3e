// SPDX-License-Identifier: Apache-2.0
//
// n positions seen, E width of keys. Every kernel is within (n + 4 E + 32) 2^-23 max |v| of softmax in double
// precision (n roundings of the sums, E of each score) and within (n + 32) 2^-23 max |v| of the reference,
// whose scores have the same order of fma, but where products are not fused. A row gives the same bits in
// every batch. Positions of pages that no row sees hold NaN. Over a cache of bf16 queries and weights may be
// rounded, too, to 2^-9 of themselves, and weights be computed to 2^-13. Over one of i8 queries may be
// rounded to bytes, which those here are already, and weights to a 510th of the largest, or where neighbours
// share 255 levels of their sum, or bytes are signed: n of them to n / (510 sum of weights), or twice that.
#pragma once

#include <float.h>

#include "tests/support/attention_scene.h"
#include "tests/support/paired_floats.h"
#include "tests/support/vnni_kernels.h"

namespace mote::testing {

template <class Check>
void each_attention(Check check) {
  each_kernel(Op::kAttention, check);
  each_paired(Op::kAttention, check);
#if defined(__x86_64__)
  if (!isa_available(Isa::kAvx512Vnni)) return;
  INFO("kernel avx512_vnni::attention_f32_i8 over EVEX ymm");
  check(kEvexAttention);
#endif
}

/// Of out, relative to the largest value, beside a reference that rounds neither queries nor weights. Queries
/// and keys are up to 2.
inline double rounding_to_bf16(const KernelEntry& entry, uint32_t head_dim) {
  if (entry.b != DType::bf16) return 0.0;
  const double score = sqrt(head_dim) * 2 * 2 * 0x1p-9;
  return 2 * score + 2 * (0x1p-9 + 0x1p-13);
}

/// Half a step of weights that become bytes, of the largest.
inline double half_step(const KernelEntry& entry) {
  if (entry.isa == Isa::kDotprod) return 1.0 / 254;
  return 1.0 / (entry.isa == Isa::kAvx2 ? 255 : 510);
}

/// The same of weights that become bytes, of row t and query head h. They are computed to 2^-13.
inline double rounding_to_bytes(const KernelEntry& entry, AttentionScene* scene, size_t t, uint32_t h) {
  return scene->seen(t) * half_step(entry) / scene->sum_of_weights(t, h) + 2 * 0x1p-13;
}

inline void check_scene(const KernelEntry& entry, const AttentionCase& c, AttentionScene* of, Split split) {
  AttentionScene& scene = *of;
  const size_t width = scene.out_width(), value_dim = scene.value_dim();
  GuardedRows out(c.rows, width, c.edge);
  scene.run(entry, out, split);
  const bool rounds_scores = !fuses(entry) && entry.b != DType::i8;  // of i8 they are integers
  if (is_reference(entry) || rounds_scores) {
    std::vector<std::vector<double>> heads;
    for (size_t t = 0; t < c.rows; ++t) {
      for (uint32_t h = 0; h < scene.heads(); ++h) heads.push_back(scene.exact(t, h));
    }
    check_within(
        out, [&](size_t t, size_t i) { return heads[t * scene.heads() + i / value_dim][i % value_dim]; },
        [&](size_t t, size_t) { return (scene.seen(t) + 4.0 * c.key_dim + 32) * 0x1p-23; });
  } else {
    GuardedRows expected(c.rows, width, Edge::start);
    scene.run(reference_of(entry), expected);
    std::vector<double> rounding(c.rows * scene.heads(), rounding_to_bf16(entry, c.key_dim));
    for (uint32_t i = 0; i < rounding.size() && entry.b == DType::i8; ++i)
      rounding[i] = rounding_to_bytes(entry, of, i / scene.heads(), i % scene.heads());
    check_within(
        out, [&](size_t t, size_t i) { return static_cast<double>(expected[t][i]); },
        [&](size_t t, size_t i) {
          return rounding[t * scene.heads() + i / value_dim] + (scene.seen(t) + 32) * 0x1p-23;
        });
  }
}

inline void check_case(const KernelEntry& entry, const AttentionCase& c, Split split = Split::whole) {
  const uint32_t together = entry.b == DType::bf16 ? 2 : entry.b == DType::i8 ? 4 : 1;
  if (c.key_dim % together != 0 || c.value_dim % together != 0) return;
  INFO("T " << c.rows << ", G " << c.kv_heads << ", H/G " << c.ratio << ", E " << c.key_dim << ", F "
            << c.value_dim << ", context " << c.context << ", window " << c.window
            << (c.bidirectional ? ", bidirectional" : "") << (c.bias ? ", bias" : ""));
  AttentionScene scene(entry.b, c);
  check_scene(entry, c, &scene, split);
}

}  // namespace mote::testing
