// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/x86/vnni_256.inl.h"

namespace mote::avx_vnni {

void linear_q8g32_q4mg32(const LinearArgs& args, Range panels, void* scratch) {
  linear_dots<Vnni256, GroupKernel<Vnni256, Q4m>>(args, panels, scratch);
}

}  // namespace mote::avx_vnni
