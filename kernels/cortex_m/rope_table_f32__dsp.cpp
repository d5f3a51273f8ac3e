// SPDX-License-Identifier: Apache-2.0
//
// The reference's table with a sine and cosine of its own, which take little flash: both within 2^-23 of the
// exact value for every finite angle. The angle is reduced by as many bits of 2 / pi as its exponent asks for
// (Payne and Hanek 1983); the polynomials are those of Moshier's Cephes.
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/ops.h"
#include "schema/f16.h"

namespace mote::dsp {
namespace {

// Bits of 2 / pi behind the point, as many as the largest exponent asks for.
constexpr uint32_t kTwoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041};

/// angle = quadrant pi / 2 + rest modulo 2 pi, |rest| at most pi / 4.
struct Reduced {
  uint32_t quadrant;
  float rest;
};

/// 32 bits of 2 / pi from bit `first` on.
uint32_t bits_from(uint32_t first) {
  const uint32_t* words = kTwoOverPi + first / 32;
  return first % 32 == 0 ? words[0] : words[0] << first % 32 | words[1] >> (32 - first % 32);
}

/// Reduces a magnitude from 2^-2 on, which is mantissa 2^exponent. Bits of 2 / pi that make multiples of 4
/// are left out.
Reduced reduce(float magnitude) {
  const uint32_t bits = bits_from_f32(magnitude);
  const uint32_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  const int32_t exponent = static_cast<int32_t>(bits >> 23) - 150;
  const int32_t left_out = exponent > 2 ? exponent - 2 : 0;
  const auto first = static_cast<uint32_t>(left_out);
  const uint64_t product =
      uint64_t{mantissa} * bits_from(first) + (uint64_t{mantissa} * bits_from(first + 32) >> 32);
  const uint64_t quarters = product << (exponent - left_out + 30);  // the first two bits are the quadrant
  const uint64_t quadrant = (quarters + (uint64_t{1} << 61)) >> 62;
  const auto rest = static_cast<int32_t>((quarters - (quadrant << 62)) >> 32);
  return {static_cast<uint32_t>(quadrant), static_cast<float>(rest) * 0x1.921fb6p-30f};
}

struct SineCosine {
  float sine, cosine;
};

SineCosine sine_cosine(float angle) {
  const float magnitude = __builtin_fabsf(angle);
  if (!(magnitude < __builtin_inff())) return {angle - angle, angle - angle};
  const Reduced reduced = magnitude < 0.25f ? Reduced{0, magnitude} : reduce(magnitude);
  const float r = reduced.rest, square = r * r;
  float sine = __builtin_fmaf(square, -1.9515295891e-4f, 8.3321608736e-3f);
  sine = __builtin_fmaf(__builtin_fmaf(sine, square, -1.6666654611e-1f), square * r, r);
  float cosine = __builtin_fmaf(square, 2.443315711809948e-5f, -1.388731625493765e-3f);
  cosine = __builtin_fmaf(cosine, square, 4.166664568298827e-2f);
  cosine = __builtin_fmaf(cosine, square * square, __builtin_fmaf(square, -0.5f, 1.0f));
  if ((reduced.quadrant & 1) != 0) {
    const float swapped = sine;
    sine = cosine;
    cosine = -swapped;
  }
  if ((reduced.quadrant & 2) != 0) {
    sine = -sine;
    cosine = -cosine;
  }
  return {angle < 0.0f ? -sine : sine, cosine};
}

/// log(1 + steps) to 2^-22 relative: 2 atanh((m - 1) / (m + 1)) of the mantissa m, 2^-1/2 to 2^1/2.
float log_of_steps(uint32_t steps) {
  const uint32_t bits = bits_from_f32(1.0f + static_cast<float>(steps)) - 0x3F3504F3u;  // of 2^-1/2
  const float m = f32_from_bits((bits & 0x7FFFFFu) + 0x3F3504F3u);
  const float exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float s = (m - 1.0f) / (m + 1.0f), square = s * s;
  float p = __builtin_fmaf(square, 0x1.c71c72p-4f, 0x1.24924ap-3f);
  p = __builtin_fmaf(p, square, 0x1.99999ap-3f);
  p = __builtin_fmaf(p, square, 0x1.555556p-2f);
  return __builtin_fmaf(exponent, 0x1.62e430p-1f, 2.0f * __builtin_fmaf(p * square, s, s));
}

}  // namespace

void rope_table_f32(const RopeTableArgs& args, Range rows, void*) {
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float position = static_cast<float>(args.positions[t]);
    float scale = args.scale;
    if (args.growth != 0.0f) {
      const uint32_t steps = static_cast<uint32_t>(args.positions[t]) / args.growth_every;
      scale *= 1.0f + args.growth * log_of_steps(steps);
    }
    for (uint32_t i = 0; i < half; ++i) {
      const SineCosine of_angle = sine_cosine(position * args.frequencies[i]);
      args.out[t][i] = scale * of_angle.cosine;
      args.out[t][half + i] = scale * of_angle.sine;
    }
  }
}

}  // namespace mote::dsp
#endif
