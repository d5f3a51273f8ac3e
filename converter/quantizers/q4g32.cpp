// SPDX-License-Identifier: Apache-2.0
//
// 4 bits with a scale per 32. The grid -8..7 is lopsided, so scales of both signs are tried, from the one
// that only reaches 6/8 of the largest magnitude to the one that holds it at 7 steps; then least squares,
// twice, since a new scale can change the choice of q. Bound: half a step at 7 steps.
#include "converter/quantizers/grid.h"

namespace mote::convert::q4g32 {
namespace {

constexpr std::array<float, 9> kSteps = {7.0f, 7.25f, 7.5f, 7.75f, 8.0f, 8.4f, 8.8f, 9.3f, 10.0f};
constexpr ScaleGrid kGrid = {-8, 7, kSteps, true, 2};

}  // namespace

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  encode_symmetric(row, importance, kGrid, out);
}

void decode(const EncodedRow& row, std::span<float> out) { decode_symmetric(row, out); }

}  // namespace mote::convert::q4g32
