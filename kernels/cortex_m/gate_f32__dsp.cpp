// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/gate.inl.h"

namespace mote::dsp {

void gate_f32(const GateArgs& args, Range rows, void*) { cortex_m::gate_by_floats(args, rows); }

}  // namespace mote::dsp
#endif
