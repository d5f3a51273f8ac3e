// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smoothing_factors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mote::convert {

std::vector<float> smoothing_factors(const std::vector<double>& inputs, const std::vector<double>& weights,
                                     double least, long most_shift) {
  std::vector<double> exponents;
  for (size_t k = 0; k < inputs.size(); ++k)
    exponents.push_back(std::log2(std::max(inputs[k], least) / std::max(weights[k], least)) / 2);
  const double mean =
      std::accumulate(exponents.begin(), exponents.end(), 0.0) / static_cast<double>(exponents.size());
  std::vector<float> factors;
  for (const double exponent : exponents)
    factors.push_back(std::ldexp(
        1.0f, static_cast<int>(std::clamp(std::lround(exponent - mean), -most_shift, most_shift))));
  return factors;
}

}  // namespace mote::convert
