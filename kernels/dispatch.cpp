// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include "kernels/scratch.h"

// MOTE_BUILT_<isa>(text) is its text where this build has the kernels of that instruction set, else nothing.
#define MOTE_BUILT_ref(...) __VA_ARGS__
#if defined(MOTE_KERNELS_X86)
#define MOTE_BUILT_avx2(...) __VA_ARGS__
#define MOTE_BUILT_avx_vnni(...) __VA_ARGS__
#define MOTE_BUILT_avx512_vnni(...) __VA_ARGS__
#define MOTE_BUILT_avx512_bf16(...) __VA_ARGS__
#define MOTE_BUILT_amx_int8(...) __VA_ARGS__
#else
#define MOTE_BUILT_avx2(...)
#define MOTE_BUILT_avx_vnni(...)
#define MOTE_BUILT_avx512_vnni(...)
#define MOTE_BUILT_avx512_bf16(...)
#define MOTE_BUILT_amx_int8(...)
#endif
#if defined(MOTE_KERNELS_ARM)
#define MOTE_BUILT_neon(...) __VA_ARGS__
#define MOTE_BUILT_dotprod(...) __VA_ARGS__
#define MOTE_BUILT_i8mm(...) __VA_ARGS__
#else
#define MOTE_BUILT_neon(...)
#define MOTE_BUILT_dotprod(...)
#define MOTE_BUILT_i8mm(...)
#endif

namespace mote {

#define MOTE_DECLARE(op, function, isa) \
  MOTE_BUILT_##isa(namespace isa { void function(const op##Args& args, Range units, void* scratch); })
#define KERNEL(op, operation, a, b, isa) MOTE_DECLARE(op, operation##_##a##_##b, isa)
#define KERNEL1(op, operation, a, isa) MOTE_DECLARE(op, operation##_##a, isa)
#include "kernels/kernel_list.inc"
#undef KERNEL
#undef KERNEL1

namespace {

namespace isa_of {
[[maybe_unused]] constexpr Isa ref = Isa::kRef, avx2 = Isa::kAvx2, avx_vnni = Isa::kAvxVnni,
                               avx512_vnni = Isa::kAvx512Vnni, neon = Isa::kNeon, dotprod = Isa::kDotprod,
                               i8mm = Isa::kI8mm, avx512_bf16 = Isa::kAvx512Bf16, amx_int8 = Isa::kAmxInt8;
}

#define MOTE_ENTRY(op, function, a, b, isa)                                                                \
  MOTE_BUILT_##isa(                                                                                        \
      {Op::k##op, DType::a, DType::b, isa_of::isa, #function, reinterpret_cast<AnyKernel>(&isa::function), \
       scratch_of<Op::k##op, DType::b, isa_of::isa>()}, )
#define KERNEL(op, operation, a, b, isa) MOTE_ENTRY(op, operation##_##a##_##b, a, b, isa)
#define KERNEL1(op, operation, a, isa) MOTE_ENTRY(op, operation##_##a, a, a, isa)
template <DType weight, Isa isa>
uint64_t linear_scratch(const ScratchShape& shape) {
  return linear_scratch_bytes(weight, isa, shape.rows, shape.inputs);
}

uint64_t attention_scratch(const ScratchShape& shape) {
  return attention_scratch_bytes(shape.heads_per_kv_head, shape.key_dim, shape.value_dim);
}

template <Op op, DType b, Isa isa>
constexpr ScratchBytes scratch_of() {
  if constexpr (op == Op::kAttention) return attention_scratch;
  if constexpr (op == Op::kLinear && linear_uses_scratch(b, isa)) return linear_scratch<b, isa>;
  return nullptr;
}

const KernelEntry kKernels[] = {
#include "kernels/kernel_list.inc"
};

}  // namespace

const KernelEntry* kernel_list(uint32_t* count) {
  *count = sizeof kKernels / sizeof kKernels[0];
  return kKernels;
}

const KernelEntry* find_kernel(Op op, DType a, DType b, Isa level) {
  for (const KernelEntry& kernel : kKernels) {
    if (kernel.op == op && kernel.a == a && kernel.b == b && isa_includes(level, kernel.isa)) return &kernel;
  }
  return nullptr;
}

}  // namespace mote
