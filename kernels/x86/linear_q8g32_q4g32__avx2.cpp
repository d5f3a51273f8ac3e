// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/linear_nibbles_avx2.inl.h"

namespace mote::avx2 {

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch) {
  nibble_linear<Nibbles<DType::q4g32, SupercellQ4>>(args, panels, scratch);
}

}  // namespace mote::avx2
