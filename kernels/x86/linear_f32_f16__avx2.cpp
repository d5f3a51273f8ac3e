// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/floats_256.inl.h"
#include "kernels/simd/linear_float.inl.h"

namespace mote::avx2 {

void linear_f32_f16(const LinearArgs& args, Range panels, void* scratch) {
  float_linear<Floats256, uint16_t>(args, panels, scratch);
}

}  // namespace mote::avx2
