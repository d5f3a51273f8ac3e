// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h, in vectors of 256 bits. Compiled for AVX-VNNI the dot product is
// VEX-encoded, for AVX-512-VNNI with VL it is EVEX-encoded, so that either processor tests it. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/dots_256.inl.h"

namespace mote {
namespace {

struct Vnni256 : Dots256 {
  static Int dot(Int sum, Int u8, Int s8) { return _mm256_dpbusd_epi32(sum, u8, s8); }
};

}  // namespace
}  // namespace mote
