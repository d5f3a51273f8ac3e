// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/linear_nibbles_helium.inl.h"

namespace mote::helium {

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void*) {
  linear_groups<Nibbles, &nibbles_of_row>(args, panels);
}

}  // namespace mote::helium
#endif
