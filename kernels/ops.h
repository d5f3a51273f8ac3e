// SPDX-License-Identifier: Apache-2.0
//
// The operations: one Args struct and contract each. The reference kernels in reference/ are the
// specification; a faster kernel equals its reference bitwise in integer matmuls and within the bound stated
// in its file elsewhere.
//
// Letters: T rows (tokens), N output width, K input width, H query heads, G KV heads, E head width (of values
// F).
//
// A kernel is called for a Range of its work units, by several threads at once for disjoint ranges; the
// result must not depend on how the units are split. `scratch` is 64-byte aligned, private to the call, of
// the bytes that the kernel states for a call of at most this shape (ScratchBytes). Rows are given as a
// pointer to the first and a stride in bytes (a multiple of 64; a row's columns start at a multiple of 4
// bytes, of 64 only where said). Inputs may be misaligned to any multiple of 4 bytes. Nothing is read or
// written past a row's last column, except that bias, norm weights and P16K4 panels are padded in the file.
// Shapes were proved by the verifier: kernels only assert.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/block_formats.h"

namespace mote {

struct Range {
  uint32_t begin, end;
};

/// The largest call of a step, as far as scratch depends on it.
struct ScratchShape {
  uint64_t rows;               // of linear
  uint64_t inputs;             // of linear
  uint64_t heads_per_kv_head;  // of attention
  uint32_t key_dim;            // of attention and gated_delta
  uint32_t value_dim;          // of attention and gated_delta
};

/// Bytes of scratch that any call of at most this shape needs, a multiple of 64. Grows with each member.
using ScratchBytes = uint64_t (*)(const ScratchShape& shape);

/// Rows of f32.
struct Rows {
  float* data;
  size_t stride_bytes;
  float* operator[](size_t row) const {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(data) + row * stride_bytes);
  }
};
struct ConstRows {
  const float* data;
  size_t stride_bytes;
  const float* operator[](size_t row) const {
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(data) + row * stride_bytes);
  }
};

/// Rows of f32 of which so many at a time lie one after the other.
struct ConstRowsInLanes {
  ConstRows first_lane;
  uint32_t lane_rows;
  size_t lane_bytes;  // from lane to lane
  const float* operator[](uint32_t row) const {
    const float* at = first_lane[row % lane_rows];
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(at) + row / lane_rows * lane_bytes);
  }
};
inline ConstRowsInLanes in_one_lane(ConstRows rows) { return {rows, UINT32_MAX, 0}; }

enum class Op : uint8_t {
#define OP(op, operation, types) k##op,
#include "kernels/op_list.inc"
  kAttentionMerge  // of no file: the second half of an attention whose positions were split
};

/// out[t] = table[ids[t]]. table [vocab, K] in P16K4 of any weight type, or row-major f32, f16 or q8c. Unit:
/// a row.
struct EmbedArgs {
  const void* table;
  uint32_t width;
  bool row_major;
  const int32_t* ids;  // [T], each in 0..vocab-1
  Rows out;            // [T, K]
};

/// x[t] = x[t] * kept / (1 - d / n), or 0 times that where ids[t] is `dropped`, for the n = last_seen[t] + 1
/// tokens of t's sequence, whose ids lie around ids[t], d of which are `dropped` (Rives et al. 2021: tokens
/// are dropped in training and rows scaled as if by dropout). Unit: a row.
struct TokenDropoutArgs {
  uint32_t width;
  float kept;
  int32_t dropped;
  const int32_t* ids;        // [T]
  const int32_t* positions;  // [T]
  const int32_t* last_seen;  // [T]
  Rows x;                    // [T, K]
};

/// x[t] += table[indices[t]], or = where it replaces, indices being positions or token types. table row-major
/// [N, K], f32 or f16. Unit: a row.
struct PositionsArgs {
  const void* table;
  uint32_t width;
  const int32_t* indices;  // [T]
  Rows x;                  // [T, K]
  bool replaces;
};

enum class NormKind : uint8_t { layer = 0, rms = 1, l2 = 2, affine = 3 };

/// Each of `groups` equal parts v of a row is normalised by itself, with the same weight and bias:
///   layer: weight * (v - mean) / sqrt(variance + eps) + bias     (Ba et al. 2016; population variance)
///   rms:   weight * v / sqrt(mean(v^2) + eps) + bias              (Zhang and Sennrich 2019)
///   l2:    weight * v / max(sqrt(sum of v^2), eps) + bias
///   affine: weight * v + bias
/// eps_outside_root: the divisor of layer and rms is sqrt(variance) + eps. weight and bias may be null: 1 and
/// 0. in may be out. Unit: a row.
struct NormArgs {
  NormKind kind;
  bool eps_outside_root;
  float eps;
  uint32_t groups;
  uint32_t width;       // of the row, a multiple of groups
  const float* weight;  // [width / groups] or null
  const float* bias;    // [width / groups] or null
  ConstRows in;
  Rows out;
};

/// out[t] = q8g32 or q8c activations of x = in[t], or of x[k] = in[t][k] * columns[k] (block_formats.h). Per
/// group of 32 columns, the last one padded with 0; in q8c the group is the row:
///   scale = absmax / 127, q = round to nearest even(x * (127 / absmax)), sum = sum of q.
/// absmax below 2^-100: scale 0, q 0. A group with a NaN or an infinity in x: scale NaN, q 0. Unit: a row.
struct QuantizeArgs {
  uint32_t width;
  const float* columns;  // [width] or null: all 1
  ConstRows in;
  void* out;  // [T], 64-byte aligned
  size_t out_stride_bytes;
};

enum class Activation : uint8_t {
  none = 0,
  silu = 1,
  gelu = 2,
  gelu_tanh = 3,
  relu = 4,
  quick_gelu = 5,
  tanh = 6,
  sigmoid = 7
};

inline constexpr uint32_t kLinearStreams = 4;

/// out[t] = activation(in[t] weight^T + bias) + residual[t]. weight [N, K] in P16K4. Unit: a panel of 16
/// outputs; where `stream` is not 0, of one row alone, unit u is the panels u + i * stream, i = 0 to
/// kLinearStreams - 1: a call may go on where another ended in each of the streams.
///
/// Weights f32, f16: in is f32; acc = fma(x[k], w[k], acc) for k = 0, 1, ..., from 0.
/// Weights q8g32, q4g32: in is q8g32 activations; per group g in order, with the exact int32 dot product d,
///   acc = fma(scale_a * scale_w, float(d), acc). (q4g32: d of nibble - 8.)
/// Weights q4mg32: acc = fma(scale_a * scale_w, float(d), acc), d of the nibble; then
///   acc = fma(minimum_w, scale_a * float(sum_a), acc). Groups cover K padded to 64.
/// Weights q4k, q5k: as q4mg32, with scale_w = scale * S and minimum_w = minimum * M, both exact.
/// Weights q6k: as q8g32 with the row's scale, and d = the sum of S * (q - 32) * q_a, exact.
/// Weights q8c: in is q8c activations; as q8g32 with one group that is all of K, at most kMaxColumnsQ8c.
/// At the end acc + bias, activation, + residual, each rounded. out may be residual (same rows), and nothing
/// else.
/// Quantized activations may hold any bytes, padding and -128 included, and any scale. In a buffer that
/// nothing quantized, a stored sum may differ from the sum of its bytes: then the outputs of that row, and of
/// no other, differ by family. K may be 0 for f32; the result is activation(bias) + residual, and a backend's
/// sums are finished this way.
struct LinearArgs {
  const void* weight;
  const float* bias;  // [N padded to 16] or null
  Activation activation;
  uint32_t rows;     // T
  uint32_t outputs;  // N
  uint32_t inputs;   // K
  const void* in;    // f32 [T, K] or quantized activations [T], 64-byte aligned rows if quantized
  size_t in_stride_bytes;
  Rows out;               // [T, N]
  ConstRows residual;     // [T, N]; data null for none
  bool scratch_is_ready;  // the scratch is as a call for other panels left it, nothing else having changed
  uint32_t stream;        // panels from one stream to the next, or 0
};

/// out[t] = scale * (cos(p f[i]) for i in 0..R/2-1, then sin(p f[i])), p = positions[t], the product rounded
/// to f32 (Su et al. 2021; the frequencies are computed offline, `scale` is YaRN's attention factor). Unit: a
/// row. Where growth is not 0, the scale is that of the position, times 1 + growth ln(1 + floor(p /
/// growth_every)).
struct RopeTableArgs {
  const float* frequencies;  // [R / 2]
  uint32_t rotary_width;     // R, even
  float scale;
  float growth;
  uint32_t growth_every;     // at least 1
  const int32_t* positions;  // [T]
  Rows out;                  // [T, R]
  ConstRows shifts;          // [T, R / 2], added to p for each frequency; data null for none
};

/// x[t][2 i] += sin(p f[i]), x[t][2 i + 1] += cos(p f[i]), p = positions[t], the product rounded to f32
/// (Vaswani et al. 2017); halves: the sines are added to the first half of x[t], the cosines to the other.
/// Unit: a row.
struct SinesArgs {
  const float* frequencies;  // [width / 2]
  uint32_t width;            // even
  bool halves;
  const int32_t* positions;  // [T]
  Rows x;                    // [T, width]
};

enum class RopeKind : uint8_t { half = 0, interleaved = 1 };

/// Rotates the first R columns of each head in place by the angles of a rope table: pairs (i, i + R/2) for
/// half (GPT-NeoX, Llama in HF order), (2i, 2i + 1) for interleaved:
///   a' = a cos - b sin, b' = b cos + a sin, each as two roundings then a sum. Unit: a row.
struct RopeArgs {
  RopeKind kind;
  uint32_t heads;
  uint32_t head_dim;      // E
  uint32_t rotary_width;  // R <= E, even
  ConstRows table;        // [T, R]
  Rows x;                 // [T, H * E]
};

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
  /// Of a page and KV head, its number among all; each has page_positions keys and values.
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

/// What becomes of s = scale * dot, the scaled product of a query of head h at position t and the key at
/// position p, each operation rounded by itself:
///   scaled      s
///   biased      s + bias[h][p - t + bias_reach - 1], of the row's own bias where there is row_bias; by
///   position
///               s + bias[h][t][p], of a group's positions alone where there are groups
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
/// sequence, l = last_seen[t], window 0 for all, but for those below first_seen where that is given; or, where
/// `sides` is not 0, over those of 0..l that are at most `sides` from positions[t], and window is 0 (Beltagy et
/// al. 2020); or, where `group` is not 0, over those of 0..l in the same group of `group` positions from a
/// multiple of it on (Liu et al. 2021). Query head h reads KV head h / (H / G). Where there are sinks,
/// exp(sinks[h]) is added to the sum that the softmax divides by (Xiao et al. 2023).
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
  const float* bias;    // [H, 2 * bias_reach - 1], by position [H, bias_reach, bias_reach or group], or null
  uint32_t bias_reach;  // above every position
  uint32_t rows;        // T
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
};
using AttentionMergeArgs = AttentionArgs;

/// out[t][i] = activation(gate[t][i / (width / gates)]) * up[t][i] (Shazeer 2020). out may be up, and gate
/// where that is as wide. Unit: a row.
struct GateArgs {
  Activation activation;
  uint32_t width;
  uint32_t gates;  // columns of gate, of which width is a multiple
  ConstRows gate;
  ConstRows up;
  Rows out;
};

/// out[i] = in[selected[i] - first] of the rows that `in` holds: those whose logits are wanted. Others are
/// left as they are. Unit: an output row.
struct SelectArgs {
  uint32_t width;
  const uint32_t* selected;  // [R]
  ConstRowsInLanes in;       // [T, width]: rows `first` and on
  Rows out;                  // [R, width]
  uint32_t first;
  uint32_t rows;  // T
};

enum class PoolKind : uint8_t { mean = 0, first = 1, last = 2, max = 3 };

/// One row for each sequence from `first` on, from its rows starts[s] + skip..starts[s + 1] - 1, at least
/// one: their mean (summed in order, then divided), the first, the last, or the largest value of each column
/// (a NaN is the largest). Unit: an output row.
struct PoolArgs {
  PoolKind kind;
  uint32_t width;
  const uint32_t* starts;  // [first + S + 1]
  ConstRowsInLanes in;     // [T, width]: rows starts[first] and on
  Rows out;                // [first + S, width]
  uint32_t first;
  uint32_t skip;  // where a sequence has no more rows, its last is taken
};

/// out[t] = rows[t]: the caller's floats; zeros where rows[t] is null. Unit: a row.
struct InputArgs {
  uint32_t width;
  const float* const* rows;  // [T], each [width]
  Rows out;                  // [T, width]
};

/// out[t] = the rows firsts[t]..firsts[t + 1] - 1 of in side by side, 1 to `ratio` of them, then zeros. Unit:
/// an output row.
struct StackRowsArgs {
  uint32_t width;
  uint32_t ratio;
  const uint32_t* firsts;  // [T + 1]
  ConstRowsInLanes in;     // [firsts[T], width]
  Rows out;                // [T, ratio * width]
};

/// out[t][k] = in[t][k] * scale[k], or * factor where scale is null; then + residual[t][k], where there is
/// one. Product and sum are rounded each. out may be in or residual. Unit: a row.
struct ScaleRowsArgs {
  uint32_t width;
  const float* scale;  // [width] or null
  float factor;
  ConstRows in;        // [T, width]
  ConstRows residual;  // [T, width]; data null for none
  Rows out;            // [T, width]
};

/// Most experts of a mixture.
inline constexpr uint32_t kMaxExperts = 1024;

enum class Scores : uint8_t { softmax = 0, sigmoid = 1, softmax_of_chosen = 2 };

/// Which experts a row goes to (Shazeer et al. 2017), and their weights. The scores s are the softmax of the
/// logits, their sigmoids, or the logits themselves. Of `groups` equal parts of the experts those
/// groups_chosen have a part in the choice whose two largest s + bias have the largest sum (DeepSeek-V3
/// 2024), and of their experts the `chosen` with the largest s + bias are chosen: the first ones of equals,
/// NaN as the smallest. A chosen expert's weight is s, or for softmax_of_chosen the softmax over the chosen
/// logits; then, if normalized, over (the sum of the chosen s + eps); then times factor. A weight is never 0:
/// the smallest positive float stands for it. Others have 0. Sums go in the order of the experts. Unit: a
/// row.
struct RouteArgs {
  Scores scores;
  uint32_t experts;  // E
  uint32_t chosen;   // 1 to E
  uint32_t groups, groups_chosen;
  bool normalized;
  float eps;
  float factor;
  const float* bias;  // [E] or null: 0
  ConstRows logits;   // [T, E]
  Rows out;           // [T, E]
};

/// For each row t and its chosen experts e, those whose routes[t][e] is not 0, in their order: slot c is
///   y = activation(in weight[e]^T + bias[e]), as linear has it
/// of in[t], or of its columns [c K, c K + K) where in is by slot. Its columns of out[t], [c stride, c stride
/// + N), are y. Or `sums`: out[t] = residual[t] + routes[t][e] y + ..., each rounded, residual first. out may
/// be residual. Rows of more than `chosen` such experts have no place: Route makes none. Unit: a panel of
/// every expert, all rows.
struct ExpertsArgs {
  LinearArgs linear;     // of the first expert: weight, bias, activation, N, K, and the rows of in
  size_t weight_stride;  // bytes from expert to expert
  uint32_t experts;      // E
  uint32_t chosen;
  bool in_by_slot;
  bool sums;
  DType in_type;
  uint32_t stride;     // columns of out from slot to slot, at least N
  ConstRows routes;    // [T, E]; data null: 1 everywhere
  Rows out;            // [T, N] or [T, chosen * N]
  ConstRows residual;  // [T, N]; data null for 0
};

/// out = min(max(in, least), most); a NaN stays one. out may be in. Unit: a row.
struct ClampArgs {
  uint32_t width;
  float least, most;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

/// xIELU (Huang and Schlag 2025): x > 0: positive x^2 + beta x, else (expm1(min(x, eps)) - x) negative +
/// beta x. out may be in. Unit: a row.
struct XieluArgs {
  uint32_t width;
  float positive, negative, beta, eps;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

}  // namespace mote

#include "kernels/grid_ops.h"
#include "kernels/recurrent_ops.h"
#include "kernels/stream_ops.h"
#include "kernels/time_ops.h"
