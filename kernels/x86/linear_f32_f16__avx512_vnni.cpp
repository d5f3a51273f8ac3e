// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_features.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/floats_512.inl.h"
#include "kernels/simd/linear_float.inl.h"

namespace mote::avx512_vnni {

void linear_f32_f16(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows == 1 && cpu_halves_512()) return float_linear<Floats256, uint16_t, Floats512>(args, panels, scratch);
  float_linear<Floats512, uint16_t>(args, panels, scratch);
}

}  // namespace mote::avx512_vnni
