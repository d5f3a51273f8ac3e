// SPDX-License-Identifier: Apache-2.0
//
// The VNNI kernels of Linear over the vectors V, as entries of the kernel list. No C++ library: files that
// are compiled for one instruction set include this.
#pragma once

#include "kernels/dispatch.h"
#include "kernels/simd/linear_decoded.inl.h"

namespace mote::test {
namespace {

template <class V, class Kernel>
void run_vnni(const LinearArgs& args, Range panels, void* scratch) {
  linear_dots<V, Kernel>(args, panels, scratch);
}

constexpr uint32_t kVnniKernelCount = 7;

template <class V, Isa isa>
const KernelEntry kVnniKernels[kVnniKernelCount] = {
    {Op::kLinear, DType::q8g32, DType::q8g32, isa, "linear_q8g32_q8g32",
     reinterpret_cast<AnyKernel>(&run_vnni<V, GroupKernel<V, Q8>>),
     &linear_dots_scratch<V, GroupKernel<V, Q8>>},
    {Op::kLinear, DType::q8g32, DType::q4g32, isa, "linear_q8g32_q4g32",
     reinterpret_cast<AnyKernel>(&run_vnni<V, GroupKernel<V, Q4>>),
     &linear_dots_scratch<V, GroupKernel<V, Q4>>},
    {Op::kLinear, DType::q8g32, DType::q4mg32, isa, "linear_q8g32_q4mg32",
     reinterpret_cast<AnyKernel>(&run_vnni<V, GroupKernel<V, Q4m>>),
     &linear_dots_scratch<V, GroupKernel<V, Q4m>>},
    {Op::kLinear, DType::q8c, DType::q8c, isa, "linear_q8c_q8c",
     reinterpret_cast<AnyKernel>(&run_vnni<V, RowKernel<V>>), &linear_dots_scratch<V, RowKernel<V>>},
    {Op::kLinear, DType::q8g32, DType::q4k, isa, "linear_q8g32_q4k",
     reinterpret_cast<AnyKernel>(&run_vnni<V, DecodedKernel<V, Q4k>>),
     &linear_dots_scratch<V, DecodedKernel<V, Q4k>>},
    {Op::kLinear, DType::q8g32, DType::q5k, isa, "linear_q8g32_q5k",
     reinterpret_cast<AnyKernel>(&run_vnni<V, DecodedKernel<V, Q5k>>),
     &linear_dots_scratch<V, DecodedKernel<V, Q5k>>},
    {Op::kLinear, DType::q8g32, DType::q6k, isa, "linear_q8g32_q6k",
     reinterpret_cast<AnyKernel>(&run_vnni<V, DecodedKernel<V, Q6k>>),
     &linear_dots_scratch<V, DecodedKernel<V, Q6k>>},
};

}  // namespace

#if defined(__x86_64__)
/// Of vnni_256_evex.cpp: the 256-bit ones for processors with AVX-512-VNNI, and attention over a cache of i8.
extern const KernelEntry* const kEvexVnniKernels;
extern const KernelEntry kEvexAttention;
/// out = exp(x - largest) of 16 lanes, as attention over i8 has it in 256 bits and in 512.
using RoughExp = void (*)(const float* x, float largest, float* out);
extern const RoughExp kRoughExps[2];
#endif

}  // namespace mote::test
