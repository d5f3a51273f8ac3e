// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/linear_nibbles.inl.h"

namespace mote::dsp {

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch) {
  linear_groups<NibbleGroups>(args, panels, scratch);
}

uint64_t linear_q8g32_q4g32_scratch(const ScratchShape& shape) {
  return NibbleGroups::scratch_bytes(shape.inputs);
}

}  // namespace mote::dsp
#endif
