// SPDX-License-Identifier: Apache-2.0
//
// Computes the cost of one scale for a row (q8c): the numbers of a row that are small beside its largest lose
// their bits.
#pragma once

#include <span>
#include <vector>

#include "converter/graph.h"

namespace mote::convert {

/// Returns the error of the products x W^T as a share of the products, in the root mean square over `rows`
/// (x, of weights[0]->cols columns) and the outputs of all `weights`, where each `group` neighbouring columns
/// of a row of x and of a row of W are rounded to 8 bits of their largest magnitude. Roundings count as
/// independent of each other. Columns of x are divided by scales[k], those of the weights multiplied by it;
/// empty: 1.
double rounding_error(std::span<const float> rows, const std::vector<const Weight*>& weights,
                      const std::vector<float>& scales, size_t group);

}  // namespace mote::convert
