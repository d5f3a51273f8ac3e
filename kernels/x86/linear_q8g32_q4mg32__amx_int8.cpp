// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/amx_tiles.inl.h"
#include "kernels/x86/linear_amx.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote::amx_int8 {

void linear_q8g32_q4mg32(const LinearArgs& args, Range panels, void* scratch) {
  linear_amx<AmxTiles, AmxGroupKernel<AmxTiles, Vnni512, Q4m>>(args, panels, scratch,
                                                               avx512_vnni::linear_q8g32_q4mg32);
}

}  // namespace mote::amx_int8
