// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/floats_256.inl.h"
#include "kernels/simd/gate.inl.h"

namespace mote::avx2 {

void gate_f32(const GateArgs& args, Range rows, void*) { mote::gate_f32<Floats256>(args, rows); }

}  // namespace mote::avx2
