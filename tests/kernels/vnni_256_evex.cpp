// SPDX-License-Identifier: Apache-2.0
//
// The 256-bit VNNI kernels compiled for AVX-512-VNNI: processors with that and no AVX-VNNI test them, too.
// And the exponential of attention's rounded weights.
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/int8_512.inl.h"
#include "kernels/x86/int8_lanes_vnni_256.inl.h"

#include "tests/support/vnni_kernels.h"

namespace mote::testing {
namespace {

void attention(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Int8Floats<Rows256, VnniWords256>, KvQuad>(args, units, scratch);
}

template <class V>
void rough_exp(const float* x, float largest, float* out) {
  for (uint32_t i = 0; i < 16; i += V::kLanes) {
    V::store(out + i, V::rough_exp(V::load(x + i), V::shift_of(largest)));
  }
}

}  // namespace

const KernelEntry* const kEvexVnniKernels = kVnniKernels<Vnni256, Isa::kAvx512Vnni>;
const KernelEntry kEvexAttention = {Op::kAttention,
                                    DType::f32,
                                    DType::i8,
                                    Isa::kAvx512Vnni,
                                    "attention_f32_i8",
                                    reinterpret_cast<AnyKernel>(&attention),
                                    &attention_scratch<Int8Floats<Rows256, VnniWords256>, KvQuad>};
const RoughExp kRoughExps[] = {&rough_exp<Int8Floats<Rows256, VnniWords256>>, &rough_exp<Int8Floats512>};

}  // namespace mote::testing
