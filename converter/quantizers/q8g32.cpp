// SPDX-License-Identifier: Apache-2.0
//
// int8 with a scale per 32: the best of a few scales around absmax / 127, which costs little and takes the
// worst of the scale's own rounding away, then one least-squares fit. Bound: the first candidate's half step.
#include "converter/quantizers/grid.h"

namespace mote::convert::q8g32 {
namespace {

constexpr std::array<float, 5> kSteps = {127.0f, 126.5f, 126.0f, 127.5f, 128.0f};
constexpr ScaleGrid kGrid = {-127, 127, kSteps, false, 1};

}  // namespace

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  encode_symmetric(row, importance, kGrid, out);
}

void decode(const EncodedRow& row, std::span<float> out) { decode_symmetric(row, out); }

}  // namespace mote::convert::q8g32
