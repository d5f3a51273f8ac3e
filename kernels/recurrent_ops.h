// SPDX-License-Identifier: Apache-2.0
//
// The operations that carry a state of a fixed size from row to row of a sequence: their contracts, as ops.h
// has those of the others.
//
// A unit is a sequence with rows in the call and one of its blocks: unit u is block u % B of sequence
// rows.sequences[u / B], B = units_of_sequence(). It takes the sequence's rows in order, so the outputs and
// the state that is left do not depend on how a text is cut into calls or on what other sequences are in
// them. Products and sums are rounded each, in the order written: a loop over columns has the same bits in
// vectors of any length. `out` overlaps no other operand, except where said.
#pragma once

#include "kernels/rows.h"

namespace mote {

inline constexpr uint32_t kNoRow = UINT32_MAX;

/// The rows of a call by sequence.
struct SequenceRows {
  const uint32_t* sequences;  // [S] those that have rows, in any order
  const uint32_t* first;      // [batch] the first row of each of them
  const uint32_t* next;       // [T] the sequence's next row, of the next position; kNoRow behind the last
  const int32_t* positions;   // [T]
};

/// f32 [heads, rows, cols] of each sequence, twice: a call reads one of the two and writes the other, so a
/// call that is broken off changes nothing. The state that a call reads at position 0 is 0, whatever lies
/// there.
struct FixedStateView {
  float* slots;            // [batch][2][slot_floats], 64-byte aligned
  const uint8_t* current;  // [batch] which of the two a call reads: 0 or 1
  size_t slot_floats;      // a multiple of 16
  uint32_t heads;
  uint32_t rows;
  uint32_t cols;
  uint32_t index;  // of the state in the file

  float* slot(uint32_t sequence, uint32_t which) const {
    return slots + (size_t{sequence} * 2 + which) * slot_floats;
  }
  const float* before(uint32_t sequence) const { return slot(sequence, current[sequence]); }
  float* after(uint32_t sequence) const { return slot(sequence, current[sequence] ^ 1u); }
};

/// Rows of the operands of a call, of which so many at a time lie one after the other.
struct Lanes {
  uint32_t rows;
  size_t bytes;  // from lane to lane

  template <class AnyRows>
  auto row(const AnyRows& first_lane, uint32_t row) const {
    const auto at = reinterpret_cast<uintptr_t>(first_lane[row % rows]) + row / rows * bytes;
    return reinterpret_cast<decltype(first_lane[row])>(at);
  }
};
inline constexpr Lanes kOneLane{UINT32_MAX, 0};

inline constexpr uint32_t kMaxTaps = 8;
inline constexpr uint32_t kChannelBlock = 64;  // columns of a block where a column needs no other

constexpr uint32_t channel_blocks(uint32_t width) { return (width + kChannelBlock - 1) / kChannelBlock; }

/// out[t][c] = activation(bias[c] + weight[0][c] x[c] of the row L - 1 before + ... + weight[L - 1][c]
/// in[t][c]), L the taps: each channel's convolution with the last L rows of its sequence. The state, [1, L -
/// 1, C], has the rows before the call, the oldest first. out may be in. Block: kChannelBlock channels.
struct CausalConvArgs {
  FixedStateView state;
  SequenceRows rows;
  Lanes lanes;
  uint32_t taps;   // 2 to kMaxTaps
  uint32_t width;  // C
  Activation activation;
  const float* weight;  // [L, C], the oldest tap first
  const float* bias;    // [C] or null: 0
  ConstRows in;         // [T, C]
  Rows out;             // [T, C]

  uint32_t units_of_sequence() const { return channel_blocks(width); }
};

/// Mamba-2's scan (Dao and Gu 2024). For each head h, of group g = h / (H / G), with the state S [N, P] that
/// its sequence has, row t gives
///   d = clamp(softplus(dt[t][h] + dt_bias[h]), dt_min, dt_max), u[p] = d x[t][h][p], a = exp(decay[h] d)
///   S[n][p] = a S[n][p] + b[t][g][n] u[p]
///   out[t][h][p] = skip[h] x[t][h][p] + the sum over n in order of S[n][p] c[t][g][n].
/// softplus(x) = log(1 + exp(x)), above 20 x itself. Block: a head.
struct SsmScanArgs {
  FixedStateView state;  // [H, N, P]
  SequenceRows rows;
  Lanes lanes;
  uint32_t groups;       // G, of which H is a multiple
  float dt_min, dt_max;  // dt_max may be an infinity
  const float* decay;    // [H]
  const float* dt_bias;  // [H] or null: 0
  const float* skip;     // [H] or null: 0
  ConstRows x;           // [T, H * P]
  ConstRows dt;          // [T, H]
  ConstRows b;           // [T, G * N]
  ConstRows c;           // [T, G * N]
  Rows out;              // [T, H * P]

  uint32_t units_of_sequence() const { return state.heads; }
};

/// Mamba's scan (Gu and Dao 2023): as ssm_scan, where each channel i has a time step of its own, and a decay
/// for each n:
///   d = softplus(dt[t][i] + dt_bias[i]), u = d x[t][i]
///   S[n][i] = exp(decay[n][i] d) S[n][i] + b[t][n] u
///   out[t][i] = skip[i] x[t][i] + the sum over n in order of S[n][i] c[t][n].
/// Block: kChannelBlock channels.
struct SelectiveScanArgs {
  FixedStateView state;  // [1, N, I]
  SequenceRows rows;
  Lanes lanes;
  const float* decay;    // [N, I]
  const float* dt_bias;  // [I] or null: 0
  const float* skip;     // [I] or null: 0
  ConstRows x;           // [T, I]
  ConstRows dt;          // [T, I]
  ConstRows b;           // [T, N]
  ConstRows c;           // [T, N]
  Rows out;              // [T, I]

  uint32_t units_of_sequence() const { return channel_blocks(state.cols); }
};

/// The gated delta rule (Yang et al. 2024). For each head h, which has the queries and keys of head g = h /
/// (H / G), with the state S [E, F] that its sequence has, row t gives
///   q = scale q[t][g] / sqrt(sum of squares + eps), k = k[t][g] / sqrt(sum of squares + eps)
///   a = exp(decay[h] softplus(dt[t][h] + dt_bias[h])), w = 1 / (1 + exp(-beta[t][h]))
///   S = a S, r = v[t][h] - S^T k, S[e][f] = S[e][f] + k[e] (w r[f]), out[t][h] = S^T q
/// with sums over e in order, each from 0; softplus as in ssm_scan. Block: a head.
struct GatedDeltaArgs {
  FixedStateView state;  // [H, E, F]
  SequenceRows rows;
  Lanes lanes;
  uint32_t key_heads;  // G, of which H is a multiple
  float scale;
  float eps;             // above 0
  const float* decay;    // [H]
  const float* dt_bias;  // [H] or null: 0
  ConstRows q;           // [T, G * E]
  ConstRows k;           // [T, G * E]
  ConstRows v;           // [T, H * F]
  ConstRows dt;          // [T, H]
  ConstRows beta;        // [T, H]
  Rows out;              // [T, H * F]

  uint32_t units_of_sequence() const { return state.heads; }
};

enum class CellKind : uint8_t { rnn = 0, lstm = 1, gru = 2 };

constexpr uint32_t gates_of(CellKind kind) {
  return kind == CellKind::rnn ? 1 : kind == CellKind::lstm ? 4 : 3;
}

/// A recurrent cell of width H, of which a row x of the gates and the h before give the h after. With g =
/// bias
/// + h[0] weight[0] + h[1] weight[1] + ... in order, s(z) = 1 / (1 + exp(-z)):
///   rnn:  h = tanh(x + g)
///   lstm (Hochreiter and Schmidhuber 1997; i, f, n, o the quarters of x + g):
///         c = s(f) c + s(i) tanh(n), h = s(o) tanh(c)
///   gru (Cho et al. 2014; r, z the first thirds of x + g, n and m the last of x and of g):
///         n = tanh(n + s(r) m), h = (1 - s(z)) n + s(z) h
/// out[t] = h. Block: the whole cell, for each h needs all of them.
struct RecurrentCellArgs {
  FixedStateView state;  // [1, 1, H]: h; of lstm [1, 2, H]: h, c
  SequenceRows rows;
  Lanes lanes;
  CellKind kind;
  const float* weight;  // [H, gates * H]
  const float* bias;    // [gates * H] or null: 0
  ConstRows in;         // [T, gates * H]
  Rows out;             // [T, H]

  uint32_t units_of_sequence() const { return 1; }
};

/// Attention with relative positions (Shaw et al. 2018), of whole sequences: those from `first` on, of rows
/// starts[s] - starts[first] and on. For each head, rows i and j of a sequence, r = reach + j - i, clipped to
/// 0 and 2 reach if `beyond`, else without terms where it lies outside:
///   score(i, j) = scale (q[i] . k[j] + q[i] . keys[r])
///   out[i] = the sum over j of softmax_j(score(i, j)) (v[j] + values[r])
/// Products and sums are in order, from 0; the weights of one r are summed before they are multiplied.
/// Unit: a head of a sequence.
struct ShawAttentionArgs {
  Lanes lanes;
  const uint32_t* starts;
  uint32_t first;
  uint32_t heads, key_dim, value_dim;
  float scale;
  bool beyond;
  uint32_t reach;
  const float* keys;    // [2 reach + 1, key_dim]
  const float* values;  // [2 reach + 1, value_dim]
  ConstRows q, k;       // [T, heads * key_dim]
  ConstRows v;          // [T, heads * value_dim]
  Rows out;             // [T, heads * value_dim]
};

enum class FeatureMap : uint8_t { elu_plus_one = 0, exponential = 1 };

/// Linear attention. For each head, with the state [M, F + 1], S with the column n behind it, row t gives
///   S[m] = S[m] + phi(k)[m] v, n[m] = n[m] + phi(k)[m]
///   out = (phi(q)[0] S[0] + phi(q)[1] S[1] + ...) / (phi(q)[0] n[0] + ...)
/// elu_plus_one (Katharopoulos et al. 2020), M = E: phi(z) = z + 1 above 0, else exp(z)
/// exponential (Choromanski et al. 2021): with y = z / E^(1/4), phi(z)[m] = exp(projection[m] y - |y|^2 / 2)
/// / sqrt(M), the squares and products summed in order. With whole sequences the sums are of all rows before
/// the first output is computed, and begin at 0; the sequences are those from `first` on, of rows starts[s] -
/// starts[first] and on. Block: a head.
struct LinearAttentionArgs {
  FixedStateView state;  // [H, M, F + 1]; of whole sequences without slots
  SequenceRows rows;     // of no use for whole sequences
  Lanes lanes;
  bool whole;              // of whole sequences
  const uint32_t* starts;  // of these
  uint32_t first;
  FeatureMap map;
  uint32_t key_dim;         // E
  const float* projection;  // [M, E], of exponential
  ConstRows q;              // [T, H * E]
  ConstRows k;              // [T, H * E]
  ConstRows v;              // [T, H * F]
  Rows out;                 // [T, H * F]

  uint32_t value_dim() const { return state.cols - 1; }
  uint32_t units_of_sequence() const { return state.heads; }
};

inline constexpr uint32_t kMaxLandmarks = 1u << 10;
inline constexpr uint32_t kNystromSteps = 6;

/// Attention by landmarks. For a sequence of n rows, for every head, ql and kl are the means of n / landmarks
/// neighbouring rows of q and k (Xiong et al. 2021): out = softmax(scale q kl^T) Z softmax(scale ql k^T) v, Z
/// after kNystromSteps steps of Z = Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4 from A^T / (the largest sum
/// of a column of A of any head) on, A = softmax(scale ql kl^T). Unit: a sequence.
struct NystromArgs {
  uint32_t heads;
  uint32_t head_dim;
  uint32_t landmarks;
  float scale;
  const uint32_t* starts;  // [first + S + 1]; rows of sequence s: starts[s] - starts[first] and on
  uint32_t first;
  Lanes lanes;
  ConstRows q, k, v;  // [T, heads * head_dim]
  Rows out;           // the same; none of these
};

/// Returns the bytes of the scratch of a call.
inline uint64_t nystrom_scratch_bytes(const NystromArgs& args) {
  const uint64_t m = args.landmarks, dim = args.head_dim, heads = args.heads, wider = m > dim ? m : dim;
  const uint64_t floats = heads * m * (2 * dim + m) + 3 * m * m + m * wider + m * dim;
  return align_up(floats * sizeof(float), kAlignment);
}

}  // namespace mote
