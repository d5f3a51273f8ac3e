// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include <type_traits>

#include "kernels/trimmed_build.h"

// Other build systems than CMake name no architecture.
#if !defined(MOTE_KERNELS_CORTEX_M) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define MOTE_KERNELS_CORTEX_M 1
#endif

// MOTE_BUILT(isa)(text) is its text where this build has the kernels of the family, else nothing.
// kernel_list.inc has those of the architecture alone; of these a board may lack some, which MOTE_LACKS_<isa>
// says by a comma.
#if !(defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA))
#define MOTE_LACKS_dsp ~, lacking
#endif
#if !defined(__ARM_FEATURE_MVE)
#define MOTE_LACKS_helium ~, lacking
#endif
#define MOTE_SECOND(first, second, ...) second
#define MOTE_BUILT_OR_LACKING(...) MOTE_SECOND(__VA_ARGS__, built, ~)
#define MOTE_TEXT_OF_built(...) __VA_ARGS__
#define MOTE_TEXT_OF_lacking(...)
#define MOTE_JOIN_TEXT(state) MOTE_TEXT_OF_##state
#define MOTE_TEXT_OF(state) MOTE_JOIN_TEXT(state)
#define MOTE_BUILT(isa) MOTE_TEXT_OF(MOTE_BUILT_OR_LACKING(MOTE_LACKS_##isa))

namespace mote {

#define INSTANCE(op, operation, a, b, isa, scratch, ...) KERNEL(op, operation, a, b, isa, scratch)
#define INSTANCE1(op, operation, a, isa, scratch, ...) KERNEL1(op, operation, a, isa, scratch)

// MOTE_SCRATCH_<scratch>(text) is its text where the kernel states its scratch.
#define MOTE_SCRATCH_scratch(...) __VA_ARGS__
#define MOTE_SCRATCH_none(...)
#define MOTE_SCRATCH_OR_NULL_scratch(function) &function
#define MOTE_SCRATCH_OR_NULL_none(function) nullptr

#define MOTE_DECLARE(op, function, isa, scratch)                                    \
  MOTE_BUILT(isa)                                                                   \
  (namespace isa {                                                                  \
    void function(const op##Args& args, Range units, void* scratch);                \
    MOTE_SCRATCH_##scratch(uint64_t function##_scratch(const ScratchShape& shape);) \
  })
#define KERNEL(op, operation, a, b, isa, scratch) MOTE_DECLARE(op, operation##_##a##_##b, isa, scratch)
#define KERNEL1(op, operation, a, isa, scratch) MOTE_DECLARE(op, operation##_##a, isa, scratch)
#include "kernels/kernel_list.inc"
#undef KERNEL
#undef KERNEL1

namespace {

namespace isa_of {
#define ISA(Name, NAME, name, number, features, tuning, flags) \
  [[maybe_unused]] constexpr Isa name = Isa::k##Name;
#include "kernels/isa_list.inc"
}  // namespace isa_of

#ifdef MOTE_MODEL_CONFIG
// Firmware never chooses among families: of each kernel it has the fastest.
struct Fastest {
  Op op;
  DType a, b;
  Isa isa;
};

#define MOTE_LISTED(op, function, a, b, isa) \
  MOTE_KERNEL_OF_MODEL(function, MOTE_BUILT(isa)({Op::k##op, DType::a, DType::b, isa_of::isa}, ))
#define KERNEL(op, operation, a, b, isa, scratch) MOTE_LISTED(op, operation##_##a##_##b, a, b, isa)
#define KERNEL1(op, operation, a, isa, scratch) MOTE_LISTED(op, operation##_##a, a, a, isa)
constexpr Fastest kListed[] = {
#include "kernels/kernel_list.inc"
};
#undef KERNEL
#undef KERNEL1
#undef MOTE_LISTED

constexpr bool is_fastest(const Fastest& kernel) {
  for (const Fastest& other : kListed) {
    if (other.op == kernel.op && other.a == kernel.a && other.b == kernel.b) return other.isa == kernel.isa;
  }
  return true;
}

template <auto kPointer>
struct Constant {
  static constexpr auto kValue = kPointer;
};
struct None {
  static constexpr AnyKernel kValue = nullptr;
};
template <bool kHas, class Some>
using If = std::conditional_t<kHas, Some, None>;

// Only constants are initializers without code.
#define MOTE_RUN(op, function, a, b, isa) \
  reinterpret_cast<AnyKernel>(            \
      If<is_fastest({Op::k##op, DType::a, DType::b, isa_of::isa}), Constant<&isa::function>>::kValue)
#else
#define MOTE_RUN(op, function, a, b, isa) reinterpret_cast<AnyKernel>(&isa::function)
#endif

#define MOTE_ENTRY(op, function, a, b, isa, scratch)                                           \
  MOTE_KERNEL_OF_MODEL(function,                                                               \
                       MOTE_BUILT(isa)({Op::k##op, DType::a, DType::b, isa_of::isa, #function, \
                                        MOTE_RUN(op, function, a, b, isa),                     \
                                        MOTE_SCRATCH_OR_NULL_##scratch(isa::function##_scratch)}, ))
#define KERNEL(op, operation, a, b, isa, scratch) MOTE_ENTRY(op, operation##_##a##_##b, a, b, isa, scratch)
#define KERNEL1(op, operation, a, isa, scratch) MOTE_ENTRY(op, operation##_##a, a, a, isa, scratch)

const KernelEntry kKernels[] = {
#include "kernels/kernel_list.inc"
};

}  // namespace

const KernelEntry* kernel_list(uint32_t* count) {
  *count = sizeof kKernels / sizeof kKernels[0];
  return kKernels;
}

const KernelEntry* find_kernel(Op op, DType a, DType b, Isa chosen) {
  for (const KernelEntry& kernel : kKernels) {
    const bool fits = kernel.op == op && kernel.a == a && kernel.b == b && runs_on(kernel.isa, chosen);
    if (fits && kernel.run != nullptr) return &kernel;
  }
  return nullptr;
}

}  // namespace mote
