// SPDX-License-Identifier: Apache-2.0
//
// Quotient and product are rounded as floats once each; what lies between is exact.
#include <math.h>
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

constexpr float kIntegerSteps = 12582912.0f;  // 1.5 * 2^23: floats near it are 1 apart
constexpr float kSmallSteps = 24576.0f;       // 1.5 * 2^14: 2^-9 apart, as E4M3 is below 2^-5
constexpr float kSmall = 0.015625f;           // 2^-6
constexpr uint32_t kDroppedBits = 20;         // of a float's 23 bits of mantissa

float nearest_e4m3(float x) {
  if (fabsf(x) < kSmall) return (x + kSmallSteps) - kSmallSteps;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t odd = bits >> kDroppedBits & 1u;
  bits += (1u << (kDroppedBits - 1)) - 1u + odd;
  bits &= ~((1u << kDroppedBits) - 1u);
  memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

void round_f32(const RoundArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t k = 0; k < args.width; ++k) {
      const float units = args.in[t][k] / args.unit;
      if (units != units) {
        args.out[t][k] = units;
        continue;
      }
      const float kept = units < args.least ? args.least : units > args.most ? args.most : units;
      const float rounded =
          args.to == Rounding::e4m3 ? nearest_e4m3(kept) : (kept + kIntegerSteps) - kIntegerSteps;
      args.out[t][k] = args.unit * rounded;
    }
  }
}

}  // namespace mote::ref
