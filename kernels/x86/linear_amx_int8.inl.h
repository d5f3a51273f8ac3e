// SPDX-License-Identifier: Apache-2.0
//
// The kernels of linear_amx.inl.h over AMX's tiles, and those of AVX-512-VNNI that take fewer rows.
#pragma once

#include "kernels/x86/amx_tiles.inl.h"
#include "kernels/x86/linear_amx.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote {

namespace avx512_vnni {
void linear_q8g32_q8g32(const LinearArgs& args, Range panels, void* scratch);
void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void* scratch);
void linear_q8g32_q4mg32(const LinearArgs& args, Range panels, void* scratch);
void linear_q8c_q8c(const LinearArgs& args, Range panels, void* scratch);
}  // namespace avx512_vnni

namespace {

template <class Format>
using AmxGroups = AmxGroupKernel<AmxTiles, Vnni512, Format>;
using AmxRows = AmxRowKernel<AmxTiles, Vnni512>;

}  // namespace
}  // namespace mote
