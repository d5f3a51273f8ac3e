// SPDX-License-Identifier: Apache-2.0
//
// Operations of rows that hold several residual streams side by side (alternating updates, Baykal et al.
// 2023), and of activations that keep the largest columns of a row.
#pragma once

#include "kernels/rows.h"

namespace mote {

/// out_j = residual_j + sum over i of coefficients[j * inputs + i] * in_i, the streams in their order, the
/// products and sums rounded each, residual_j last. out may be residual, not in. Unit: a row.
struct MixStreamsArgs {
  uint32_t width;          // of a stream
  uint32_t inputs, count;  // streams of in; of residual and out
  ConstRows in;            // [T, inputs * width]
  ConstRows coefficients;  // [T, count * inputs]
  ConstRows residual;      // [T, count * width]
  Rows out;                // [T, count * width]
};

/// out = in * root(mean(target^2)) / root(max(mean(in^2), eps)), of each row. out may be in. Unit: a row.
struct MatchRmsArgs {
  uint32_t width;
  float eps;
  ConstRows in;      // [T, width]
  ConstRows target;  // [T, width]
  Rows out;          // [T, width]
};

/// out = max(in - (mean + deviations * deviation), 0) with the mean and the standard deviation (over all
/// columns, without Bessel's correction) of each row: of normally distributed columns a fixed share is left.
/// out may be in. Unit: a row.
struct CutoffArgs {
  uint32_t width;
  float deviations;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

}  // namespace mote
