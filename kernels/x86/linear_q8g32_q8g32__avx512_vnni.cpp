// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_features.h"
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote::avx512_vnni {

void linear_q8g32_q8g32(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows == 1 && cpu_halves_512()) {
    return linear_dots<Vnni512InHalves, GroupKernel<Vnni512InHalves, Q8>>(args, panels, scratch);
  }
  linear_dots<Vnni512, GroupKernel<Vnni512, Q8>>(args, panels, scratch);
}

}  // namespace mote::avx512_vnni
