// SPDX-License-Identifier: Apache-2.0
//
// n positions seen, E width of keys. Every kernel is within (n + 4 E + 32) 2^-23 max |v| of softmax in double
// precision (n roundings of the sums, E of each score) and within (n + 32) 2^-23 max |v| of the reference,
// whose scores have the same order of fma, but where products are not fused. A row gives the same bits in
// every batch. Positions of pages that no row sees hold NaN. Over a cache of bf16 queries and weights may be
// rounded, too, to 2^-9 of themselves, and weights be computed to 2^-13. Over one of i8 queries may be
// rounded to bytes, which those here are already, and weights to a 510th of the largest, or where neighbours
// share 255 levels of their sum, or bytes are signed: n of them to n / (510 sum of weights), or twice that.
#include <float.h>

#include "tests/support/attention_scene.h"
#include "tests/support/paired_floats.h"
#include "tests/support/vnni_kernels.h"

namespace mote::test {
namespace {

using Case = AttentionCase;
using Scene = AttentionScene;

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
double rounding_to_bf16(const KernelEntry& entry, uint32_t head_dim) {
  if (entry.b != DType::bf16) return 0.0;
  const double score = sqrt(head_dim) * 2 * 2 * 0x1p-9;
  return 2 * score + 2 * (0x1p-9 + 0x1p-13);
}

/// Half a step of weights that become bytes, of the largest.
double half_step(const KernelEntry& entry) {
  if (entry.isa == Isa::kDotprod) return 1.0 / 254;
  return 1.0 / (entry.isa == Isa::kAvx2 ? 255 : 510);
}

/// The same of weights that become bytes, of row t and query head h. They are computed to 2^-13.
double rounding_to_bytes(const KernelEntry& entry, Scene* scene, size_t t, uint32_t h) {
  return scene->seen(t) * half_step(entry) / scene->sum_of_weights(t, h) + 2 * 0x1p-13;
}

void check_scene(const KernelEntry& entry, const Case& c, Scene* of, Split split) {
  Scene& scene = *of;
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

void check_case(const KernelEntry& entry, const Case& c, Split split = Split::whole) {
  const uint32_t together = entry.b == DType::bf16 ? 2 : entry.b == DType::i8 ? 4 : 1;
  if (c.key_dim % together != 0 || c.value_dim % together != 0) return;
  INFO("T " << c.rows << ", G " << c.kv_heads << ", H/G " << c.ratio << ", E " << c.key_dim << ", F "
            << c.value_dim << ", context " << c.context << ", window " << c.window
            << (c.bidirectional ? ", bidirectional" : "") << (c.bias ? ", bias" : ""));
  Scene scene(entry.b, c);
  check_scene(entry, c, &scene, split);
}

}  // namespace

TEST("attention meets softmax at every head width, ratio of heads and context", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t head_dim : {1u, 7u, 8u, 10u, 12u, 16u, 24u, 64u, 80u}) {
      for (const uint32_t ratio : {1u, 2u, 3u, 5u}) {
        for (const uint32_t context : {1u, 15u, 16u, 17u, 127u, 128u, 129u, 300u}) {
          check_case(entry, {1, ratio, 2, head_dim, context});
          if (context >= 5)
            check_case(entry, {5, ratio, 1, head_dim, context, 0, Edge::start}, Split::halves);
        }
      }
    }
  });
}

TEST("attention meets softmax for every number of rows", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (uint32_t rows = 0; rows <= 34; ++rows) check_case(entry, {rows, 2, 2, 12, 150});
    check_case(entry, {150, 3, 1, 16, 150});
  });
}

TEST("attention takes values that are wider or narrower than keys", "[attention]") {
  constexpr uint32_t kDims[][2] = {{1, 7}, {7, 1}, {10, 24}, {8, 16}, {16, 8}, {64, 12}, {12, 64}, {24, 80}};
  each_attention([&](const KernelEntry& entry) {
    for (const auto& [key_dim, value_dim] : kDims) {
      for (const uint32_t context : {16u, 129u, 300u}) {
        Case c{context < 20 ? 1u : 19u, 3, 2, key_dim, context};
        c.value_dim = value_dim;
        check_case(entry, c);
        c.window = 50;
        c.edge = Edge::start;
        check_case(entry, c, Split::halves);
      }
    }
  });
}

TEST("attention sees a window's positions alone, and reads no page before them", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {1u, 2u, 16u, 100u, 128u, 129u, 250u}) {
      for (const uint32_t rows : {1u, 5u, 33u}) {
        for (const uint32_t context : {33u, 128u, 129u, 300u, 517u, 640u}) {
          check_case(entry, {rows, 2, 2, entry.b == DType::i8 ? 12u : 10u, context, window});
        }
      }
    }
  });
}

TEST("attention sees all positions of the sequence where it is bidirectional, with and without a bias",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t head_dim : {8u, 12u, 32u}) {
      for (const uint32_t context : {1u, 7u, 16u, 23u, 128u, 129u, 300u}) {
        if (context > 129 && head_dim != 12) continue;  // the reference takes its time
        for (const bool bias : {false, true}) {
          check_case(entry, {context, 1, 3, head_dim, context, 0, Edge::end, false, true, bias});
          check_case(entry, {context, 2, 1, head_dim, context, 0, Edge::start, true, true, bias},
                     Split::halves);
        }
      }
    }
  });
}

TEST("a bias of each row's own is added as one of all rows is", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {1u, 23u, 129u}) {
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = c.bias = c.row_bias = true;
      check_case(entry, c, Split::halves);
    }
  });
}

TEST("a bias by both positions is added as one by their distance is", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {1u, 23u, 129u}) {
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = c.bias = c.by_position = true;
      check_case(entry, c, Split::halves);
    }
  });
}

TEST("attention within groups sees the positions of its own alone, whose bias is by place", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [group, context] : {std::pair(1u, 5u), std::pair(4u, 23u), std::pair(49u, 147u),
                                         std::pair(100u, 300u), std::pair(129u, 270u), std::pair(64u, 40u)}) {
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = true;
      c.group = group;
      c.bias = group != 4;
      check_case(entry, c, group == 49 ? Split::halves : Split::whole);
    }
  });
}

TEST("attention with a window on both sides sees its positions alone", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [sides, context] : {std::pair(1u, 1u), std::pair(1u, 23u), std::pair(4u, 129u),
                                         std::pair(64u, 150u), std::pair(128u, 270u), std::pair(300u, 40u)}) {
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = true;
      c.sides = sides;
      c.two_sequences = sides == 4;
      c.bias = sides == 64;
      check_case(entry, c, sides == 4 ? Split::halves : Split::whole);
    }
  });
}

TEST("attention adds the products with relative keys and queries, in whole sequences and causal ones",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {1u, 23u, 129u, 300u}) {
      for (const auto& [keys, queries] :
           {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
        Case c{context < 130 ? context : 5, 2, 2, 12, context};
        c.bidirectional = context != 300;
        c.relative_keys = keys;
        c.relative_queries = queries;
        c.bias = keys && queries;
        c.sides = context == 129 ? 40 : 0;
        c.two_sequences = context == 23;
        check_case(entry, c, context == 23 ? Split::halves : Split::whole);
      }
    }
  });
}

TEST("attention of blocks sees the first, the last and the neighbouring ones, and the first again",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [block, context] :
         {std::pair(4u, 23u), std::pair(4u, 37u), std::pair(16u, 300u), std::pair(64u, 1100u)}) {
      Case c{context == 1100 ? 200 : context, 2, 1, 12, context};
      c.bidirectional = true;
      c.two_sequences = context == 37;
      c.block = block;
      c.random_blocks = context == 300 ? 3 : 1;
      check_case(entry, c, context == 300 ? Split::halves : Split::whole);
    }
  });
}

TEST("attention with a window on both sides sees global positions too", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [sides, context, globals] :
         {std::tuple(1u, 1u, 1u), std::tuple(4u, 37u, 9u), std::tuple(4u, 129u, 200u),
          std::tuple(3u, 300u, 290u), std::tuple(8u, 300u, 1000u), std::tuple(70u, 1100u, 450u)}) {
      Case c{context == 1100 ? 200 : context, 2, 1, 12, context};
      c.bidirectional = true;
      c.sides = sides;
      c.globals = globals;
      check_case(entry, c, context == 300 ? Split::halves : Split::whole);
    }
  });
}

TEST("rows of global tokens attend as they do among others, which stay as they are", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {1u, 37u, 300u}) {
      Case c{context, 2, 1, 12, context};
      c.bidirectional = true;
      Scene all(entry.b, c);
      c.globals = 21;
      c.global_queries = true;
      Scene some(entry.b, c);
      GuardedRows expected(context, all.out_width(), Edge::end), out(context, all.out_width(), Edge::end);
      all.run(entry, expected);
      out.fill([](size_t, size_t) { return 7.0f; });
      some.run(entry, out, Split::halves);
      for (size_t t = 0; t < context; ++t) {
        for (size_t i = 0; i < all.out_width(); ++i)
          TEST_ASSERT_EQUAL_FLOAT(some.is_global(some.position(t)) ? expected[t][i] : 7.0f, out[t][i]);
      }
    }
  });
}

TEST("attention adds a bias to causal scores and those of a window too", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {0u, 5u, 100u}) {
      for (const uint32_t context : {20u, 140u, 300u}) {
        check_case(entry, {17, 2, 2, 12, context, window, Edge::end, false, false, true});
      }
    }
  });
}

TEST("attention caps scores, takes slopes by distance or position, and has sinks", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const ScoreKind score :
         {ScoreKind::scaled, ScoreKind::capped, ScoreKind::alibi, ScoreKind::alibi_bf16}) {
      for (const bool sinks : {false, true}) {
        for (const uint32_t window : {0u, 5u, 100u}) {
          for (const uint32_t context : {1u, 20u, 140u, 300u}) {
            INFO("score " << static_cast<int>(score) << (sinks ? ", sinks" : ""));
            Case c{context < 17 ? 1u : 17u, 2, 2, 12, context, window};
            c.score = score;
            c.sinks = sinks;
            check_case(entry, c, context == 20 ? Split::halves : Split::whole);
          }
        }
      }
    }
  });
}

TEST("attention with slopes and sinks gives a row the same bits alone and in segments", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const ScoreKind score : {ScoreKind::capped, ScoreKind::alibi, ScoreKind::alibi_bf16}) {
      Case c{9, 3, 2, 12, 540, score == ScoreKind::capped ? 300u : 0u};
      c.score = score;
      c.sinks = true;
      const Scene scene(entry.b, c);
      GuardedRows all(c.rows, scene.out_width(), Edge::end), merged(c.rows, scene.out_width(), Edge::end);
      scene.run(entry, all);
      scene.run(entry, merged, 0, c.rows, Split::halves, true);
      check_same_bits(all, merged);
      for (uint32_t t = 0; t < c.rows; ++t) {
        GuardedRows one(1, scene.out_width(), Edge::end);
        scene.run(entry, one, t, 1);
        TEST_ASSERT_EQUAL_MEMORY(all[t], one[0], scene.out_width() * 4);
      }
    }
  });
}

TEST("attention keeps the sequences of a batch apart", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {20u, 140u}) check_case(entry, {17, 3, 2, 12, context, 0, Edge::end, true});
  });
}

#ifdef MOTE_SANITIZED  // sanitizers look at addresses, of which one of each kind is enough
constexpr uint32_t kSplitKeyDims[] = {12}, kSplitRatios[] = {3};
#else
constexpr uint32_t kSplitKeyDims[] = {12, 64}, kSplitRatios[] = {1, 3, 4};
#endif

TEST("attention gives a row the same bits alone and among others, however the work is split", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {0u, 50u, 540u}) {  // the last stands for all positions, before and after
      for (const uint32_t key_dim : kSplitKeyDims) {
        for (const uint32_t ratio : kSplitRatios) {
          const bool all_seen = window == 540;
          const Case c{33,        ratio, 2,        key_dim,  540, all_seen ? 0 : window,
                       Edge::end, false, all_seen, all_seen, 20};
          INFO("window " << window << ", E " << key_dim << ", H/G " << ratio);
          const Scene scene(entry.b, c);
          const size_t width = scene.out_width();
          GuardedRows all(c.rows, width, Edge::end);
          scene.run(entry, all);
          for (const Split split : kSplits) {
            GuardedRows out(c.rows, width, Edge::end);
            scene.run(entry, out, split);
            check_same_bits(all, out);
            GuardedRows merged(c.rows, width, Edge::end);
            scene.run(entry, merged, 0, c.rows, split, true);
            check_same_bits(all, merged);
          }
          for (uint32_t n : {1u, 2u, 7u}) {
            for (uint32_t first = 0; first + n <= c.rows; first += n == 7 ? 7 : 5) {
              GuardedRows some(n, width, Edge::end);
              scene.run(entry, some, first, n);
              for (uint32_t t = 0; t < n; ++t) TEST_ASSERT_EQUAL_MEMORY(all[first + t], some[t], width * 4);
            }
          }
        }
      }
    }
  });
}

TEST("attention gives NaN to the queries that see a NaN, and to no other", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const bool in_key : {false, true}) {
      const Case c{19, 2, 2, 12, 145};
      Scene scene(entry.b, c);
      const bool all_columns = entry.b == DType::i8;  // share a scale
      const uint32_t poisoned = 135;                  // seen by the rows from 9 on
      (in_key ? scene.k(0, poisoned) : scene.v(0, poisoned))[12 + 3] = NAN;
      scene.store(0, poisoned);
      GuardedRows out(c.rows, 4 * 12, Edge::end);
      scene.run(entry, out);
      for (size_t t = 0; t < c.rows; ++t) {
        for (size_t i = 0; i < 48; ++i) {
          const bool sees =
              scene.position(t) >= poisoned && i >= 24 && (in_key || all_columns || i % 12 == 3);
          if (isnan(out[t][i]) != sees)
            TEST_FAIL_MESSAGE("row " << t << ", column " << i << " is " << out[t][i]);
        }
      }
    }
  });
}

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
        const Case c{5, 2, 1, 16, 150};
        Scene scene(entry.b, c);
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
      const Case c{19, 2, 2, head_dim, 145};
      Scene scene(entry.b, c);
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
    const Case c{19, 2, 2, 12, 145};
    for (const float scale : {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, -0.02f, 0.0f}) {
      for (const bool of_key : {false, true}) {
        Scene scene(entry.b, c);
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
      const Case c{1, 1, 1, kMaxKeyDimI8, 3};
      Scene scene(entry.b, c);
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
      const Case c{1, 1, 1, 8, 200};
      Scene scene(entry.b, c);
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
        TEST_ASSERT_TRUE(beside <= (entry.b == DType::i8 ? 1.0 / 510 : 0.0));
        TEST_ASSERT_GREATER_THAN(1e-3, fabs(before[e] - static_cast<double>(out[0][e])));
      }
    }
  });
}

}  // namespace mote::test
