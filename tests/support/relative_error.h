// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/unity_style.h"

namespace test {

/// |actual - expected| / |expected|, Euclidean.
inline double relative_error(const std::vector<float>& expected, const std::vector<float>& actual) {
  REQUIRE(actual.size() == expected.size());
  double error = 0, energy = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(double{actual[i]} - double{expected[i]}, 2);
    energy += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(error / energy);
}

}  // namespace test
