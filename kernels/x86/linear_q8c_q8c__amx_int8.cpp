// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/amx_tiles.inl.h"
#include "kernels/x86/linear_amx.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote::amx_int8 {

void linear_q8c_q8c(const LinearArgs& args, Range panels, void* scratch) {
  linear_amx<AmxTiles, AmxRowKernel<AmxTiles, Vnni512>>(args, panels, scratch, avx512_vnni::linear_q8c_q8c);
}

}  // namespace mote::amx_int8
