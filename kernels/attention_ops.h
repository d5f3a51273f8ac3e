// SPDX-License-Identifier: Apache-2.0
//
// Contracts of attention over a KV cache and of the cache itself, as ops.h has them.
#pragma once

#include "kernels/rows.h"

namespace mote {

inline constexpr uint32_t kAttentionTile = 128;     // key positions, at absolute multiples of it
inline constexpr uint32_t kAttentionSegment = 256;  // of them, a whole number of tiles
inline constexpr uint32_t kAttentionRowBlock = 16;  // rows of a work unit

inline constexpr uint32_t kNoPage = UINT32_MAX;

/// One layer's keys, of E columns, and values, of F, in pages of a tile of positions each. Position p of a
/// sequence lies at place p % kAttentionTile of the page that the table has for its tile p / kAttentionTile.
/// Two tiles may have one page, as those of a sliding window that are never needed at once do.
///
/// A page of keys is [G][page_positions / 16][E][16], a page of values [G][page_positions][F].
/// f32 or f16; or bf16 in pairs, of which an instruction adds both products, E and F even: keys
/// [G][page_positions / 16][E / 2][16][2], values [G][page_positions / 2][F][2].
/// Or i8 in quads, E and F multiples of 4, each key and value of a head with a scale of its own, as q8c
/// activations have it: keys [G][page_positions / 16][1 + E / 4][16] quads, of which the first 16 are the
/// scales, floats, and bytes are the quantized ones plus 128; values [G][page_positions / 16], of 16 scales
/// and [4][F] quads, of four positions each.
struct KvCacheView {
  void* keys;               // [page], 64-byte aligned
  void* values;             // [page], 64-byte aligned
  const uint32_t* pages;    // [sequence][tiles], kNoPage for a tile of which nothing is held or read
  uint32_t tiles;           // that a sequence has at most
  uint32_t page_positions;  // a multiple of 16; kAttentionTile, or less where there is one tile
  uint32_t kv_heads;        // G
  uint32_t key_dim;         // E, of queries too
  uint32_t value_dim;       // F, of outputs too

  uint32_t page_of(uint32_t sequence, uint32_t tile) const {
    return pages[static_cast<size_t>(sequence) * tiles + tile];
  }
  /// Returns the number of a page's KV head among all; each has page_positions keys and values.
  size_t head_of_page(uint32_t page, uint32_t kv_head) const {
    return static_cast<size_t>(page) * kv_heads + kv_head;
  }
};

struct KvQuad {
  uint8_t bytes[4];
};

/// The widest keys of a cache of i8: the products of queries from -127 to 127 and keys from -128 to 127 must
/// add up in an int32.
inline constexpr uint32_t kMaxKeyDimI8 = INT32_MAX / (128 * 127) / 4 * 4;

/// Bytes that a key or value of so many columns takes; with i8, of a whole block of 16 positions, a 16th.
constexpr uint64_t kv_bytes(DType dtype, uint64_t columns) {
  if (dtype == DType::i8) return columns + sizeof(float);
  return columns * (dtype == DType::f32 ? 4 : 2);
}

/// Stores k[t] and v[t] at positions[t] of sequences[t]. f16 and bf16 round to nearest even; i8 as quantize
/// does (q8c), each head by itself. Unit: a row.
struct KvStoreArgs {
  KvCacheView cache;
  const int32_t* positions;  // [T]
  const int32_t* sequences;  // [T]
  ConstRows k;               // [T, G * E]
  ConstRows v;               // [T, G * F]
};

/// Softmax of one query over the positions of a segment, not yet divided: floats out[F], maximum, sum.
constexpr uint32_t attention_partial_floats(uint32_t value_dim) { return value_dim + 2; }

/// The score that is made of s = scale * dot, the scaled product of a query of head h at position t and the
/// key at position p, each operation rounded by itself:
///   scaled      s
///   biased      s + bias[h][p - t + bias_reach - 1], of the row's own bias where there is row_bias; by
///   position
///               s + bias[h][t][p], of a group's positions alone where there are groups; of windows
///               s + bias[edges[t]][h][t % group][p % group]
///   capped      softcap * tanh(s / softcap) (Gemma 2)
///   alibi       s + slopes[h] * -|p - t| (Press et al. 2021)
///   alibi_bf16  s + scale * (slopes[h] * p rounded to bf16) (Falcon)
///   relative    s + scale * r, + bias as in biased where there is one, with r = fma over e in order of
///               q[e] relative_keys[h E + e][d], then of relative_queries[h E + e][d] k[e], of those two that
///               there are, d = p - t + relative_reach - 1 (Dai et al. 2019; He et al. 2020)
///   blocks      of blocks of `block` positions (Zaheer et al. 2020): s + first_block_bonus in block 0; s in
///               the last block of the row's sequence and in those next to t's; else s + kUnseenScore. As
///               scaled for t in block 0 or the last one, and where the sequence has at most `all_up_to`
///               positions
///   globals     s where |p - t| <= sides, and at p of global tokens; else s + kUnseenScore (Beltagy et al.
///               2020)
/// Tiles of which a row sees none of blocks and globals may be passed over.
enum class ScoreKind : uint8_t { scaled = 0, biased, capped, alibi, alibi_bf16, relative, blocks, globals };

inline constexpr int32_t kNoGlobal = INT32_MAX;

/// Takes every weight away beside a score that counts, and is exact enough in the exponentials of all
/// families.
inline constexpr float kUnseenScore = -1e6f;

/// out[t][h] = softmax(scores of q[t][h] and K) V over the positions max(0, l - window + 1)..l of the row's
/// sequence, l = last_seen[t], window 0 for all, but for those below first_seen where that is given; or,
/// where `sides` is not 0, over those of 0..l that are at most `sides` from positions[t], and window is 0
/// (Beltagy et al. 2020); or, where `group` is not 0, over those of 0..l in the same group of `group`
/// positions from a multiple of it on (Liu et al. 2021). Query head h reads KV head h / (H / G). Where there
/// are sinks, exp(sinks[h]) is added to the sum that the softmax divides by (Xiao et al. 2023).
///
/// Online softmax over tiles of kAttentionTile positions at absolute multiples (Milakov and Gimelshein 2018;
/// Dao et al. 2022): per tile, s as ScoreKind says, with dot = fma over E in order; m' = max(m, max s); the
/// running sum and output are scaled once by exp(m - m'); p = exp(s - m'); out = fma(p, v, out) in position
/// order. Each segment of kAttentionSegment positions starts anew, the first that a row sees from a maximum
/// of sinks[h] and a sum of 1 where there are sinks; segments are folded in order, the first taken as it is:
/// m' = max(m, m_s); a = exp(m - m'), b = exp(m_s - m'); sum = sum a + sum_s b, out = out a + out_s b. At the
/// end out / sum. A result depends on its own query and keys alone: not on T, the row's place in it, or the
/// split of the work. NaN scores give NaN outputs for their query alone.
///
/// Unit: unit u is KV head u / B of rows [R * (u % B), R * (u % B) + R), R = kAttentionRowBlock, B = ceil(T /
/// R). Where `segments` is not 0, few rows share long sequences among threads: unit u is segment
/// u % segments of what u / segments is above, and gives partials instead of out; attention_merge, whose unit
/// is a row, makes out of them.
struct AttentionArgs {
  KvCacheView cache;
  uint32_t heads;   // H, a multiple of G
  uint32_t window;  // 0: none
  float scale;
  const float* bias;  // [H, 2 * bias_reach - 1], by position [H, bias_reach, bias_reach or group], or null
  uint32_t
      bias_reach;  // above every position; of groups that are windows, `group`: [1 or 4, H, group, group]
  uint32_t rows;   // T
  const int32_t* positions;  // [T]
  const int32_t* last_seen;  // [T], of causal attention the positions
  const int32_t* sequences;  // [T]
  ConstRows q;               // [T, H * E]
  Rows out;                  // [T, H * F]
  uint32_t segments;         // of the longest sequence, or 0
  float* partials;           // [T, H, segments, attention_partial_floats(F)]
  ScoreKind score;           // whose bias, slopes or softcap there is
  float softcap;
  const float* slopes;            // [H]
  const float* sinks;             // [H] or null
  uint32_t sides;                 // of a window on both sides; 0: none
  ConstRows row_bias;             // [T, H * (2 * bias_reach - 1)], in place of bias; data null for none
  bool by_position;               // the bias
  const float* relative_keys;     // [H * E, 2 * relative_reach - 1] or null
  const float* relative_queries;  // the same
  uint32_t relative_reach;        // above every position
  uint32_t block;                 // of ScoreKind::blocks
  float first_block_bonus;
  uint32_t all_up_to;
  const int32_t* next_global;  // [T] the first position of a global token from the row's own on, or
                               // kNoGlobal; rows of a sequence lie one after the other. Null: there are none
  bool global_queries;         // only rows of global tokens attend; `out` of the others stays
  uint32_t group;              // of the positions that a row sees; 0: none
  const uint32_t* first_seen;  // [sequence] the first position that its rows see where `sides` is 0, or null
  const uint32_t* edges;       // [T] of groups that are windows: which of four biases, or null for the first
};
using AttentionMergeArgs = AttentionArgs;

}  // namespace mote
