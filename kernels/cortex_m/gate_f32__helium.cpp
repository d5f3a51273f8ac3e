// SPDX-License-Identifier: Apache-2.0
//
// Four columns at a time, where each has a gate and the activation is SiLU; else as dsp. A gate that is
// subnormal is taken as 0, and so is an output.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/floats_helium.inl.h"
#include "kernels/cortex_m/gate.inl.h"

namespace mote::helium {
namespace {

inline float32x4_t silu(float32x4_t x) {
  const float32x4_t exponents = vminnmq_f32(vnegq_f32(x), vdupq_n_f32(cortex_m::kMostExp));
  return divide(x, vaddq_n_f32(exp_not_large(exponents), 1.0f));
}

void silu_row(const float* gate, const float* up, float* out, uint32_t width) {
  uint32_t i = 0;
  for (; i + 4 <= width; i += 4) vst1q_f32(out + i, vmulq_f32(silu(vld1q_f32(gate + i)), vld1q_f32(up + i)));
  if (i == width) return;
  const mve_pred16_t some = vctp32q(width - i);
  const float32x4_t y = silu(vld1q_z_f32(gate + i, some));
  vst1q_p_f32(out + i, vmulq_f32(y, vld1q_z_f32(up + i, some)), some);
}

}  // namespace

void gate_f32(const GateArgs& args, Range rows, void*) {
  if (args.activation != Activation::silu || args.gates != args.width)
    return cortex_m::gate_by_floats(args, rows);
  for (uint32_t t = rows.begin; t < rows.end; ++t)
    silu_row(args.gate[t], args.up[t], args.out[t], args.width);
}

}  // namespace mote::helium
#endif
