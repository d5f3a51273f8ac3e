// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/floats_512.inl.h"
#include "kernels/simd/gate.inl.h"

namespace mote::avx512_vnni {

void gate_f32(const GateArgs& args, Range rows, void*) { mote::gate_f32<Floats512>(args, rows); }

}  // namespace mote::avx512_vnni
