// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote::avx512_vnni {

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch) {
  linear_dots<Vnni512, GroupKernel<Vnni512, Q4>>(args, panels, scratch);
}

}  // namespace mote::avx512_vnni
