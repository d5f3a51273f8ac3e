// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/x86/vnni_256.inl.h"

namespace mote::avx_vnni {

void linear_q8c_q8c(const LinearArgs& args, Range panels, void* scratch) {
  linear_dots<Vnni256, RowKernel<Vnni256>>(args, panels, scratch);
}

}  // namespace mote::avx_vnni
