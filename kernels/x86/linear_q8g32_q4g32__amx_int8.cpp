// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/amx_tiles.inl.h"
#include "kernels/x86/linear_amx.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote {

namespace avx512_vnni {
void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch);
}

namespace amx_int8 {

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows < kAmxTileRows) return avx512_vnni::linear_q8g32_q4g32(args, panels, scratch);
  linear_amx<AmxTiles, AmxGroupKernel<AmxTiles, Vnni512, Q4>>(args, panels, scratch);
}

}  // namespace amx_int8
}  // namespace mote
