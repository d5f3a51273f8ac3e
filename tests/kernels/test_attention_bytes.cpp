// SPDX-License-Identifier: Apache-2.0
//
// Attention over bytes, and what rounds its weights.
#include "tests/support/attention_check.h"

namespace mote::testing {

#if defined(__x86_64__)
TEST("attention's exponential of weights that are rounded is within 2^-13", "[attention]") {
  if (!isa_available(Isa::kAvx512Vnni)) return;
  for (const RoughExp rough_exp : kRoughExps) {
    for (const float largest : {0.0f, -3.7f, 90.0f}) {
      float x[16], weights[16];
      for (int step = 0; step < 87 * 64; step += 16) {
        for (int i = 0; i < 16; ++i) x[i] = largest - static_cast<float>(step + i) / 64.0f;
        rough_exp(x, largest, weights);
        for (int i = 0; i < 16; ++i) {
          const double exact = exp(static_cast<double>(x[i]) - static_cast<double>(largest));
          TEST_ASSERT_TRUE(fabs(static_cast<double>(weights[i]) - exact) <= exact * 0x1p-13);
        }
      }
      for (float& each : x) each = -INFINITY;
      x[1] = NAN;
      rough_exp(x, largest, weights);
      TEST_ASSERT_TRUE(weights[0] >= 0.0f && weights[0] <= 0x1p-126f);
      TEST_ASSERT_TRUE(isnan(weights[1]));
    }
  }
}
#endif

TEST("attention over bytes adds up the largest queries, keys, weights and values without an overflow",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    if (entry.b != DType::i8) return;
    for (const float sign : {1.0f, -1.0f}) {
      // Scores of 0, whose weights are all the largest, and of +-2.
      for (const float magnitude : {0.0f, 0.5f}) {
        const AttentionCase c{5, 2, 1, 16, 150};
        AttentionScene scene(entry.b, c);
        scene.set_queries(sign * magnitude);
        for (uint32_t p = 0; p < c.context; ++p) {
          for (uint32_t e = 0; e < c.key_dim; ++e) {
            scene.k(0, p)[e] = p % 8 < 5 ? 1.0f : -1.0f;
            scene.v(0, p)[e] = e % 4 == 0 ? 1.0f : e % 4 == 1 ? -1.0f : p % 8 < 5 ? 1.0f : -1.0f;
          }
          scene.store(0, p);
        }
        GuardedRows out(c.rows, scene.heads() * c.key_dim, Edge::end);
        scene.run(entry, out);
        check_within(
            out,
            [&](size_t t, size_t i) {
              return scene.exact(t, static_cast<uint32_t>(i / c.key_dim))[i % c.key_dim];
            },
            [&](size_t t, size_t i) {
              const double score_step = is_reference(entry) ? 0.0 : 4.0 * half_step(entry);
              return rounding_to_bytes(entry, &scene, t, static_cast<uint32_t>(i / c.key_dim)) +
                     2 * score_step + (scene.seen(t) + 32) * 0x1p-23;
            });
      }
    }
  });
}

TEST("attention over bytes takes any bytes of a cache", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    if (entry.b != DType::i8) return;
    for (const uint32_t head_dim : {12u, 64u}) {
      const AttentionCase c{19, 2, 2, head_dim, 145};
      AttentionScene scene(entry.b, c);
      Random random(head_dim);
      for (uint32_t p = 0; p < c.context; ++p) scene.store_any_bytes(0, p, random);
      check_scene(entry, c, &scene, Split::whole);
    }
  });
}

TEST("attention over bytes takes any scale of a cache, which only the queries that see it show",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    if (entry.b != DType::i8) return;
    const AttentionCase c{19, 2, 2, 12, 145};
    for (const float scale : {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, -0.02f, 0.0f}) {
      for (const bool of_key : {false, true}) {
        AttentionScene scene(entry.b, c);
        GuardedRows before(c.rows, 4 * 12, Edge::end), after(c.rows, 4 * 12, Edge::end);
        scene.run(entry, before);
        const uint32_t other = 135;  // seen by the rows from 9 on
        scene.store_scale(0, other, of_key, scale);
        scene.run(entry, after);
        for (size_t t = 0; t < c.rows; ++t) {
          const bool same = memcmp(before[t], after[t], 48 * sizeof(float)) == 0;
          TEST_ASSERT_EQUAL(scene.position(t) < other, same);
        }
        after.check_gaps();
      }
    }
  });
}

TEST("attention over bytes is exact for heads as wide as its sums hold", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    if (entry.b != DType::i8) return;
    for (const float sign : {1.0f, -1.0f}) {
      const AttentionCase c{1, 1, 1, kMaxKeyDimI8, 3};
      AttentionScene scene(entry.b, c);
      scene.set_queries(sign * 2.0f);
      for (uint32_t p = 0; p < c.context; ++p) {
        std::fill_n(scene.k(0, p), c.key_dim, p == 1 ? sign : -sign);  // all scores but one far below
        std::fill_n(scene.v(0, p), c.key_dim, p == 1 ? 1.0f : -1.0f);
        scene.store(0, p);
      }
      GuardedRows out(1, c.key_dim, Edge::end);
      scene.run(entry, out);
      for (uint32_t e = 0; e < c.key_dim; ++e)
        TEST_ASSERT_TRUE(fabs(static_cast<double>(out[0][e]) - 1.0) <= 1.0 / 510);
    }
  });
}

TEST("attention to one dominant key returns its value", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t dominant : {0u, 100u, 128u, 199u}) {
      const AttentionCase c{1, 1, 1, 8, 200};
      AttentionScene scene(entry.b, c);
      for (uint32_t p = 0; p < c.context; ++p) {
        for (uint32_t e = 0; e < 8; ++e) scene.k(0, p)[e] = 0.0f;
        scene.store(0, p);
      }
      const std::vector<double> before = scene.exact(0, 0);
      for (uint32_t e = 0; e < 8; ++e) scene.k(0, dominant)[e] = scene.query(0)[e] * 16384.0f;
      scene.store(0, dominant);
      GuardedRows out(1, 8, Edge::end);
      scene.run(entry, out);
      for (uint32_t e = 0; e < 8; ++e) {
        const double beside =
            fabs(static_cast<double>(out[0][e]) - static_cast<double>(scene.v(0, dominant)[e]));
        // Of bfdot, which rounds to odd, the least weights beside show in both sums, by 2^-23 of each.
        const bool odd = entry.b == DType::bf16 && entry.isa == Isa::kI8mm;
        const double rounded = odd ? 1.25 * 0x1p-22 * std::fabs(double{scene.v(0, dominant)[e]}) : 0.0;
        TEST_ASSERT_TRUE(beside <= (entry.b == DType::i8 ? 1.0 / 510 : rounded));
        TEST_ASSERT_GREATER_THAN(1e-3, fabs(before[e] - static_cast<double>(out[0][e])));
      }
    }
  });
}

}  // namespace mote::testing
