// SPDX-License-Identifier: Apache-2.0
//
// Attention beside softmax, within the bounds of tests/support/attention_check.h.
#include "tests/support/attention_check.h"

namespace mote::testing {
namespace {

/// Whole sequences, of {width, context}: set(case, width) gives the case its width of a group or a window.
template <class Set>
void check_widths(const std::vector<std::pair<uint32_t, uint32_t>>& all, const Set& set) {
  each_attention([&](const KernelEntry& entry) {
    for (const auto& [width, context] : all) {
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = true;
      const Split split = set(c, width);
      check_case(entry, c, split);
    }
  });
}

}  // namespace

TEST("attention meets softmax at every head width, ratio of heads and context", "[attention][values]") {
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

TEST("attention takes values that are wider or narrower than keys", "[attention][values]") {
  constexpr uint32_t kDims[][2] = {{1, 7}, {7, 1}, {10, 24}, {8, 16}, {16, 8}, {64, 12}, {12, 64}, {24, 80}};
  each_attention([&](const KernelEntry& entry) {
    for (const auto& [key_dim, value_dim] : kDims) {
      for (const uint32_t context : {16u, 129u, 300u}) {
        AttentionCase c{context < 20 ? 1u : 19u, 3, 2, key_dim, context};
        c.value_dim = value_dim;
        check_case(entry, c);
        c.window = 50;
        c.edge = Edge::start;
        check_case(entry, c, Split::halves);
      }
    }
  });
}

TEST("attention sees a window's positions alone, and reads no page before them", "[attention][values]") {
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
     "[attention][values]") {
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

TEST("a bias of each row's own, or by both positions, is added as one of all rows by their distance is",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const bool by_position : {false, true}) {
      for (const uint32_t context : {1u, 23u, 129u}) {
        AttentionCase c{context, 2, 1, 12, context};
        c.bidirectional = c.bias = true;
        (by_position ? c.by_position : c.row_bias) = true;
        check_case(entry, c, Split::halves);
      }
    }
  });
}

TEST("attention within groups sees the positions of its own alone, whose bias is by place", "[attention]") {
  check_widths({{1, 5}, {4, 23}, {49, 147}, {100, 300}, {129, 270}, {64, 40}},
               [](AttentionCase& c, uint32_t group) {
                 c.group = group;
                 c.bias = group != 4;
                 return group == 49 ? Split::halves : Split::whole;
               });
}

TEST("attention within windows of a picture adds the biases of each window's kind", "[attention]") {
  check_widths({{4, 24}, {9, 81}, {49, 294}, {144, 720}}, [](AttentionCase& c, uint32_t group) {
    c.group = group;
    c.bias = c.windows = true;
    return group == 49 ? Split::halves : Split::whole;
  });
}

TEST("attention with a window on both sides sees its positions alone", "[attention]") {
  check_widths({{1, 1}, {1, 23}, {4, 129}, {64, 150}, {128, 270}, {300, 40}},
               [](AttentionCase& c, uint32_t sides) {
                 c.sides = sides;
                 c.two_sequences = sides == 4;
                 c.bias = sides == 64;
                 return sides == 4 ? Split::halves : Split::whole;
               });
}

TEST("attention adds the products with relative keys and queries, in whole sequences and causal ones",
     "[attention][values]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {1u, 23u, 129u, 300u}) {
      for (const auto& [keys, queries] :
           {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
        AttentionCase c{context < 130 ? context : 5, 2, 2, 12, context};
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
     "[attention][values]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [block, context] :
         {std::pair(4u, 23u), std::pair(4u, 37u), std::pair(16u, 300u), std::pair(64u, 1100u)}) {
      AttentionCase c{context == 1100 ? 200 : context, 2, 1, 12, context};
      c.bidirectional = true;
      c.two_sequences = context == 37;
      c.block = block;
      c.random_blocks = context == 300 ? 3 : 1;
      check_case(entry, c, context == 300 ? Split::halves : Split::whole);
    }
  });
}

TEST("attention with a window on both sides sees global positions too", "[attention][values]") {
  each_attention([](const KernelEntry& entry) {
    for (const auto& [sides, context, globals] :
         {std::tuple(1u, 1u, 1u), std::tuple(4u, 37u, 9u), std::tuple(4u, 129u, 200u),
          std::tuple(3u, 300u, 290u), std::tuple(8u, 300u, 1000u), std::tuple(70u, 1100u, 450u)}) {
      AttentionCase c{context == 1100 ? 200 : context, 2, 1, 12, context};
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
      AttentionCase c{context, 2, 1, 12, context};
      c.bidirectional = true;
      AttentionScene all(entry.b, c);
      c.globals = 21;
      c.global_queries = true;
      AttentionScene some(entry.b, c);
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

TEST("attention caps scores, takes slopes by distance or position, and has sinks", "[attention][values]") {
  each_attention([](const KernelEntry& entry) {
    for (const ScoreKind score :
         {ScoreKind::scaled, ScoreKind::capped, ScoreKind::alibi, ScoreKind::alibi_bf16}) {
      for (const bool sinks : {false, true}) {
        for (const uint32_t window : {0u, 5u, 100u}) {
          for (const uint32_t context : {1u, 20u, 140u, 300u}) {
            INFO("score " << static_cast<int>(score) << (sinks ? ", sinks" : ""));
            AttentionCase c{context < 17 ? 1u : 17u, 2, 2, 12, context, window};
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
      AttentionCase c{9, 3, 2, 12, 540, score == ScoreKind::capped ? 300u : 0u};
      c.score = score;
      c.sinks = true;
      const AttentionScene scene(entry.b, c);
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

TEST("attention gives a row the same bits alone and among others, however the work is split",
     "[attention][values]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {0u, 50u, 540u}) {  // the last stands for all positions, before and after
      for (const uint32_t key_dim : kSplitKeyDims) {
        for (const uint32_t ratio : kSplitRatios) {
          const bool all_seen = window == 540;
          const AttentionCase c{33,        ratio, 2,        key_dim,  540, all_seen ? 0 : window,
                                Edge::end, false, all_seen, all_seen, 20};
          INFO("window " << window << ", E " << key_dim << ", H/G " << ratio);
          const AttentionScene scene(entry.b, c);
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
      const AttentionCase c{19, 2, 2, 12, 145};
      AttentionScene scene(entry.b, c);
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

}  // namespace mote::testing
