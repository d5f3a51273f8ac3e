// SPDX-License-Identifier: Apache-2.0
//
// int8 with a scale per row. A row's largest weight may lie far out, so scales down to the one that clips at
// half of it are tried, then least squares, twice, since a new scale can change the choice of q. In double:
// weights may be as large or as small as f32 allows. Bound: half a step at 127 steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "converter/quantizers/quantizer.h"

namespace mote::convert::q8c {
namespace {

constexpr double kLeast = -128;
constexpr double kMost = 127;
constexpr int kCandidates = 24;
constexpr double kFinestStep = 254;  // steps of the largest magnitude at which the search ends

/// To nearest, ties to even: adding 1.5 * 2^52 leaves no room for a fraction, and vectorises.
double round_even(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

double nearest(double value, double inverse) {
  return round_even(std::clamp(value * inverse, kLeast, kMost));
}

struct Fit {
  double error = 0;
  float scale = 0;
  float least_squares = 0;  // the scale that fits this choice of q best
};

/// Sums in lanes that do not wait for each other.
Fit try_scale(std::span<const float> row, float scale) {
  constexpr size_t kLanes = 4;
  const double step = static_cast<double>(scale);
  const double inverse = scale == 0.0f ? 0.0 : 1.0 / step;
  std::array<double, kLanes> error{}, product{}, square{};
  const auto add = [&](float weight, size_t lane) {
    const double value = static_cast<double>(weight);
    const double q = nearest(value, inverse);
    error[lane] += (step * q - value) * (step * q - value);
    product[lane] += q * value;
    square[lane] += q * q;
  };
  size_t k = 0;
  for (; k + kLanes <= row.size(); k += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(row[k + lane], lane);
  }
  for (; k < row.size(); ++k) add(row[k], 0);
  const auto sum = [](const std::array<double, kLanes>& lanes) {
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
  };
  return {sum(error), scale, sum(square) == 0.0 ? 0.0f : static_cast<float>(sum(product) / sum(square))};
}

float best_scale(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::fabs(value));
  Fit best = try_scale(row, largest / static_cast<float>(kMost));
  const auto consider = [&](float scale) {
    const Fit candidate = try_scale(row, scale);
    if (candidate.error < best.error) best = candidate;
  };
  for (int i = 1; i <= kCandidates; ++i) {
    const double steps = kMost * std::pow(kFinestStep / kMost, static_cast<double>(i) / kCandidates);
    consider(static_cast<float>(static_cast<double>(largest) / steps));
  }
  consider(largest / 128.0f);  // the largest at -128
  consider(best.least_squares);
  consider(best.least_squares);
  return best.scale;
}

}  // namespace

void encode(std::span<const float> row, std::span<const float>, EncodedRow& out) {
  const float scale = best_scale(row);
  const double inverse = scale == 0.0f ? 0.0 : 1.0 / static_cast<double>(scale);
  out.quant.row_scale = scale;
  out.quant.q.resize(row.size());
  std::transform(row.begin(), row.end(), out.quant.q.begin(), [&](float value) {
    return static_cast<int8_t>(nearest(static_cast<double>(value), inverse));
  });
}

void decode(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) out[k] = row.quant.row_scale * static_cast<float>(row.quant.q[k]);
}

}  // namespace mote::convert::q8c
