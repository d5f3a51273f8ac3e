// SPDX-License-Identifier: Apache-2.0
//
// Contracts of the operations that map row to row, or choose and join rows, as ops.h has them.
#pragma once

#include "kernels/rows.h"

namespace mote {

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
/// (a NaN is the largest). With a padding of 0 or more, the last is the last whose token is another, and the
/// first where all are of it. Unit: an output row.
struct PoolArgs {
  PoolKind kind;
  uint32_t width;
  const uint32_t* starts;  // [first + S + 1]
  ConstRowsInLanes in;     // [T, width]: rows starts[first] and on
  Rows out;                // [first + S, width]
  uint32_t first;
  uint32_t skip;       // where a sequence has no more rows, its last is taken
  int32_t padding;     // a token, or -1
  const int32_t* ids;  // [T], of rows starts[first] and on; read where there is a padding
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

/// out = min(max(in, least), most); a NaN stays one. out may be in. Unit: a row.
struct ClampArgs {
  uint32_t width;
  float least, most;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

enum class Rounding : uint8_t { integer = 0, e4m3 = 1 };

inline constexpr float kMostUnits = 65536.0f, kMostE4m3 = 448.0f;

/// out = unit * r(min(max(in / unit, least), most)), where r gives the nearest integer, or the nearest number
/// of E4M3 (4 bits of exponent, 3 of mantissa, from 2^-9 on), ties to even. least and most are at most
/// kMostUnits from 0, of E4M3 kMostE4m3. A NaN stays one. out may be in. Unit: a row.
struct RoundArgs {
  uint32_t width;
  Rounding to;
  float unit, least, most;
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
