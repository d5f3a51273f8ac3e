// SPDX-License-Identifier: Apache-2.0
#include "converter/resize_positions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mote::convert {
namespace {

/// The four positions that one of the new grid is made of, and their weights.
struct CubicTaps {
  std::array<uint32_t, 4> at;
  std::array<double, 4> weights;
};

CubicTaps cubic_taps(uint32_t from, uint32_t to, uint32_t index) {
  constexpr double kA = -0.75;
  const double place = (index + 0.5) * from / to - 0.5, floor = std::floor(place), t = place - floor;
  const auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  CubicTaps taps{{}, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
  for (uint32_t i = 0; i < taps.at.size(); ++i)
    taps.at[i] = static_cast<uint32_t>(std::clamp(floor + i - 1.0, 0.0, from - 1.0));
  return taps;
}

}  // namespace

std::vector<float> resize_positions(std::span<const float> table, PatchGrid from, PatchGrid to,
                                    uint32_t width) {
  std::vector<float> resized;
  resized.reserve(size_t{to.rows} * to.columns * width);
  for (uint32_t row = 0; row < to.rows; ++row) {
    const CubicTaps down = cubic_taps(from.rows, to.rows, row);
    for (uint32_t column = 0; column < to.columns; ++column) {
      const CubicTaps across = cubic_taps(from.columns, to.columns, column);
      for (uint32_t i = 0; i < width; ++i) {
        double sum = 0;
        for (size_t y = 0; y < down.at.size(); ++y) {
          double line = 0;
          for (size_t x = 0; x < across.at.size(); ++x)
            line += across.weights[x] *
                    double{table[(size_t{down.at[y]} * from.columns + across.at[x]) * width + i]};
          sum += down.weights[y] * line;
        }
        resized.push_back(static_cast<float>(sum));
      }
    }
  }
  return resized;
}

}  // namespace mote::convert
