// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h by dpbusd. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include "kernels/x86/int8_lanes_256.inl.h"
#include "kernels/x86/vnni_256.inl.h"

namespace mote {
namespace {

struct VnniWords256 : Words256 {
  static __m256i dot(__m256i sum, __m256i u8, __m256i s8) { return Vnni256::dot(sum, u8, s8); }
  static __m256 joint(__m256 magnitudes) { return magnitudes; }
};

}  // namespace
}  // namespace mote
