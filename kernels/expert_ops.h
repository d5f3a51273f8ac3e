// SPDX-License-Identifier: Apache-2.0
//
// Contracts of mixtures of experts, as ops.h has them.
#pragma once

#include "kernels/row_ops.h"

namespace mote {

/// Most experts of a mixture.
inline constexpr uint32_t kMaxExperts = 1024;

enum class Scores : uint8_t { softmax = 0, sigmoid = 1, softmax_of_chosen = 2 };

/// Which experts a row goes to (Shazeer et al. 2017), and their weights. The scores s are the softmax of the
/// logits, their sigmoids, or the logits themselves. The experts are in `groups` equal parts. The
/// groups_chosen groups whose two largest s + bias have the largest sum have a part in the choice
/// (DeepSeek-V3 2024). Those `chosen` experts of these groups are chosen that have the largest s + bias: the
/// first ones of equals, NaN as the smallest. A chosen expert's weight is s, or for softmax_of_chosen the
/// softmax over the chosen logits; then, if normalized, over (the sum of the chosen s + eps); then times
/// factor. A weight is never 0: the smallest positive float stands for it. Others have 0. Sums go in the
/// order of the experts. Unit: a row.
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
/// be residual. Rows of more than `chosen` such experts have no place: Route makes none. Slots of rows with
/// fewer are 0. Unit: a panel of every expert, all rows.
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

}  // namespace mote
