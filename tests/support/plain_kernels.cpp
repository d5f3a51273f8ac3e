// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_kernels.h"

#include "kernels/simd/attention.inl.h"
#include "kernels/simd/embed.inl.h"
#include "kernels/simd/gate.inl.h"
#include "kernels/simd/kv_store.inl.h"
#include "kernels/simd/linear_float.inl.h"
#include "kernels/simd/norm.inl.h"
#include "kernels/simd/positions.inl.h"
#include "kernels/simd/quantize.inl.h"
#include "kernels/simd/rope.inl.h"
#include "tests/support/plain_vectors.h"

namespace mote::testing {
namespace {

template <class Args>
AnyKernel any(void (*kernel)(const Args&, Range, void*)) {
  return reinterpret_cast<AnyKernel>(kernel);
}

constexpr uint32_t kEach = 19;

template <class V, Isa isa>
const KernelEntry kKernels[kEach] = {
    {Op::kEmbed, DType::f32, DType::f16, isa, "embed_f32_f16", any(&embed_f16<V>), nullptr},
    {Op::kEmbed, DType::f32, DType::q8g32, isa, "embed_f32_q8g32", any(&embed_groups<V, EmbedQ8<V>>),
     nullptr},
    {Op::kEmbed, DType::f32, DType::q4g32, isa, "embed_f32_q4g32", any(&embed_groups<V, EmbedQ4<V>>),
     nullptr},
    {Op::kEmbed, DType::f32, DType::q4mg32, isa, "embed_f32_q4mg32", any(&embed_groups<V, EmbedQ4m<V>>),
     nullptr},
    {Op::kEmbed, DType::f32, DType::q8c, isa, "embed_f32_q8c", any(&embed_q8c<V>), nullptr},
    {Op::kPositions, DType::f32, DType::f32, isa, "positions_f32_f32", any(&positions<V, float>), nullptr},
    {Op::kPositions, DType::f32, DType::f16, isa, "positions_f32_f16", any(&positions<V, uint16_t>), nullptr},
    {Op::kNorm, DType::f32, DType::f32, isa, "norm_f32", any(&norm<V>), nullptr},
    {Op::kRope, DType::f32, DType::f32, isa, "rope_f32", any(&rope<V>), nullptr},
    {Op::kGate, DType::f32, DType::f32, isa, "gate_f32", any(&gate<V>), nullptr},
    {Op::kQuantize, DType::f32, DType::q8g32, isa, "quantize_f32_q8g32", any(&quantize_q8g32<V>), nullptr},
    {Op::kQuantize, DType::f32, DType::q8c, isa, "quantize_f32_q8c", any(&quantize_q8c<V>), nullptr},
    {Op::kKvStore, DType::f32, DType::f32, isa, "kv_store_f32_f32", any(&kv_store<V, float>), nullptr},
    {Op::kKvStore, DType::f32, DType::f16, isa, "kv_store_f32_f16", any(&kv_store<V, uint16_t>), nullptr},
    {Op::kKvStore, DType::f32, DType::i8, isa, "kv_store_f32_i8", any(&kv_store_i8<V>), nullptr},
    {Op::kAttention, DType::f32, DType::f32, isa, "attention_f32_f32", any(&attention<V, float>),
     &attention_scratch<V, float>},
    {Op::kAttention, DType::f32, DType::f16, isa, "attention_f32_f16", any(&attention<V, uint16_t>),
     &attention_scratch<V, uint16_t>},
    {Op::kLinear, DType::f32, DType::f32, isa, "linear_f32_f32", any(&linear_float<V, float>),
     &linear_float_scratch<V, float>},
    {Op::kLinear, DType::f32, DType::f16, isa, "linear_f32_f16", any(&linear_float<V, uint16_t>),
     &linear_float_scratch<V, uint16_t>},
};

}  // namespace

const KernelEntry* plain_kernels(uint32_t* count) {
  static KernelEntry all[2 * kEach];
  for (uint32_t i = 0; i < kEach; ++i) {
    all[i] = kKernels<PlainFloats<8, true>, Isa::kAvx2>[i];
    all[kEach + i] = kKernels<PlainFloats<4, false>, Isa::kSse>[i];
  }
  *count = 2 * kEach;
  return all;
}

}  // namespace mote::testing
