// SPDX-License-Identifier: Apache-2.0
//
// How rounded inputs and the matrices behind them share their sizes (SmoothQuant, Xiao et al. 2023), in
// powers of two, which round nothing themselves.
#pragma once

#include <vector>

namespace mote::convert {

/// s[k] = sqrt(inputs[k] / weights[k]) / their geometric mean, to the nearest power of two. Sizes of columns,
/// of which less than `least` counts as that; s is from 2^-most_shift to 2^most_shift.
std::vector<float> smoothing_factors(const std::vector<double>& inputs, const std::vector<double>& weights,
                                     double least, long most_shift);

}  // namespace mote::convert
