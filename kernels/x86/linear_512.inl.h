// SPDX-License-Identifier: Apache-2.0
//
// Linear in vectors of 512 bits. A single row is bound by memory; where the CPU runs 512 bits in two passes
// it takes vectors of 256 bits.
#pragma once

#include "kernels/cpu_features.h"
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/simd/linear_float.inl.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/vnni_512.inl.h"

namespace mote {
namespace {

template <class T>
constexpr uint64_t linear_float_512_scratch(const ScratchShape& shape) {
  return linear_float_scratch<Floats512, T>(shape);
}

template <class T>
void linear_float_512(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows == 1 && cpu_halves_512()) return linear_float<Floats256, T, Floats512>(args, panels, scratch);
  linear_float<Floats512, T>(args, panels, scratch);
}

template <class Format>
constexpr uint64_t linear_groups_512_scratch(const ScratchShape& shape) {
  return linear_dots_scratch<Vnni512, GroupKernel<Vnni512, Format>>(shape);
}

template <class Format>
void linear_groups_512(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows == 1 && cpu_halves_512()) {
    return linear_dots<Vnni512InHalves, GroupKernel<Vnni512InHalves, Format>>(args, panels, scratch);
  }
  linear_dots<Vnni512, GroupKernel<Vnni512, Format>>(args, panels, scratch);
}

}  // namespace
}  // namespace mote
