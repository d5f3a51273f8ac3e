// SPDX-License-Identifier: Apache-2.0
//
// The VNNI kernels of Linear over the vectors V, as entries of the kernel list. No C++ library: files that
// are compiled for one instruction set include this.
#pragma once

#include "kernels/dispatch.h"
#include "kernels/simd/linear_decoded.inl.h"

namespace mote::testing {
namespace {

template <class V, class Kernel>
void run_vnni(const LinearArgs& args, Range panels, void* scratch) {
  linear_dots<V, Kernel>(args, panels, scratch);
}

constexpr uint32_t kVnniKernelCount = 7;

/// An entry for activations and weights of types a and b; the rest is its Kernel.
#define MOTE_TEST_VNNI(a, b, ...)                                                                    \
  {                                                                                                  \
    Op::kLinear, DType::a, DType::b, isa, "linear_" #a "_" #b,                                       \
        reinterpret_cast<AnyKernel>(&run_vnni<V, __VA_ARGS__>), &linear_dots_scratch<V, __VA_ARGS__> \
  }

template <class V, Isa isa>
const KernelEntry kVnniKernels[kVnniKernelCount] = {
    MOTE_TEST_VNNI(q8g32, q8g32, GroupKernel<V, Q8>),   MOTE_TEST_VNNI(q8g32, q4g32, GroupKernel<V, Q4>),
    MOTE_TEST_VNNI(q8g32, q4mg32, GroupKernel<V, Q4m>), MOTE_TEST_VNNI(q8c, q8c, RowKernel<V>),
    MOTE_TEST_VNNI(q8g32, q4k, DecodedKernel<V, Q4k>),  MOTE_TEST_VNNI(q8g32, q5k, DecodedKernel<V, Q5k>),
    MOTE_TEST_VNNI(q8g32, q6k, DecodedKernel<V, Q6k>)};
#undef MOTE_TEST_VNNI

}  // namespace

#if defined(__x86_64__)
/// Of vnni_256_evex.cpp: the 256-bit ones for processors with AVX-512-VNNI, and attention over a cache of i8.
extern const KernelEntry* const kEvexVnniKernels;
extern const KernelEntry kEvexAttention;
/// out = exp(x - largest) of 16 lanes, as attention over i8 has it in 256 bits and in 512.
using RoughExp = void (*)(const float* x, float largest, float* out);
extern const RoughExp kRoughExps[2];
#endif

}  // namespace mote::testing
