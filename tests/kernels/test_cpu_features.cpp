// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"

#include <set>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

/// Those that have a kernel in this build.
std::set<Isa> built_families() {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  std::set<Isa> built;
  for (uint32_t i = 0; i < count; ++i) built.insert(kernels[i].isa);
  return built;
}

/// Whether a build offers the family where the CPU has it. One for this machine alone has a few kernels of
/// other families, which those of its own share, and does not offer these.
bool is_offered(Isa isa) {
#ifdef MOTE_NATIVE_FAMILY
  if (isa_name(isa) != std::string(MOTE_NATIVE_FAMILY)) return false;
#endif
  return built_families().count(isa) != 0;
}

}  // namespace

TEST("every family has a name that leads back to it, and other names lead nowhere", "[cpu_features]") {
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    Isa isa = Isa::kRef;
    TEST_ASSERT_TRUE(isa_from_name(isa_name(static_cast<Isa>(i)), &isa));
    TEST_ASSERT_EQUAL_UINT32(i, static_cast<uint32_t>(isa));
  }
  for (const char* name : {"", "sse2", "AVX2", "avx", "avx22", "auto"}) {
    Isa isa = Isa::kNeon;
    TEST_ASSERT_FALSE(isa_from_name(name, &isa));
    TEST_ASSERT_TRUE(isa == Isa::kNeon);
  }
}

TEST("the reference is always available", "[cpu_features]") { TEST_ASSERT_TRUE(isa_available(Isa::kRef)); }

TEST("a family without a kernel in this build is not available", "[cpu_features]") {
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (built_families().count(isa) == 0) TEST_ASSERT_FALSE(isa_available(isa));
  }
}

TEST("a family's kernels run on the families that have all of its features", "[cpu_features]") {
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    TEST_ASSERT_TRUE(runs_on(Isa::kRef, static_cast<Isa>(i)));
    TEST_ASSERT_TRUE(runs_on(static_cast<Isa>(i), static_cast<Isa>(i)));
    TEST_ASSERT_EQUAL(i == 0, runs_on(static_cast<Isa>(i), Isa::kRef));
  }
  for (const Isa chosen : {Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmxInt8}) {
    TEST_ASSERT_TRUE(runs_on(Isa::kSse, chosen));
    TEST_ASSERT_TRUE(runs_on(Isa::kAvx2, chosen));
    TEST_ASSERT_FALSE(runs_on(Isa::kNeon, chosen));
    TEST_ASSERT_FALSE(runs_on(chosen, Isa::kSse));
  }
  TEST_ASSERT_FALSE(runs_on(Isa::kAvxVnni, Isa::kAmxInt8));  // Zen 4 lacks it, too
  TEST_ASSERT_FALSE(runs_on(Isa::kAvxVnni, Isa::kAvx2));
  TEST_ASSERT_TRUE(runs_on(Isa::kAvx512Vnni, Isa::kAvx512Bf16));
  TEST_ASSERT_TRUE(runs_on(Isa::kAvx512Bf16, Isa::kAmxInt8));
  TEST_ASSERT_TRUE(runs_on(Isa::kNeon, Isa::kI8mm));
  TEST_ASSERT_TRUE(runs_on(Isa::kDotprod, Isa::kI8mm));
  TEST_ASSERT_FALSE(runs_on(Isa::kI8mm, Isa::kDotprod));
}

TEST("an available family has its features, and the best is the last of them", "[cpu_features]") {
  Isa last = Isa::kRef;
  for (const Family& one : kFamilies) {
    if (!isa_available(one.isa)) continue;
    TEST_ASSERT_TRUE(has_all(cpu_features(), one.features));
    last = one.isa;
  }
  TEST_ASSERT_TRUE(best_isa() == last);
}

TEST("a family is available where its kernels are built and the CPU has its features", "[cpu_features]") {
  for (const Family& one : kFamilies) {
    if (one.isa == Isa::kRef || !is_offered(one.isa)) continue;
    TEST_ASSERT_EQUAL(has_all(cpu_features(), one.features), isa_available(one.isa));
  }
}

#if defined(__x86_64__)
TEST("what is found of the CPU is what the compiler's run-time finds", "[cpu_features]") {
  TEST_ASSERT_EQUAL(__builtin_cpu_supports("sse4.1") != 0, has_all(cpu_features(), kSse41));
  const auto has_features_of = [](Isa isa) { return has_all(cpu_features(), family(isa).features); };
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");  // F16C is older than both
  TEST_ASSERT_EQUAL(avx2, has_features_of(Isa::kAvx2));
  const bool vnni = avx2 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
  TEST_ASSERT_EQUAL(vnni, has_features_of(Isa::kAvx512Vnni));
  const bool bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  TEST_ASSERT_EQUAL(bf16, has_features_of(Isa::kAvx512Bf16));
}
#endif

TEST("a kernel is found for every entry at its own family, and at the reference for each type",
     "[dispatch]") {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    INFO(isa_name(kernels[i].isa) << "::" << kernels[i].name);
    TEST_ASSERT_TRUE(find_kernel(kernels[i].op, kernels[i].a, kernels[i].b, kernels[i].isa) == &kernels[i]);
    TEST_ASSERT_NOT_NULL(find_kernel(kernels[i].op, kernels[i].a, kernels[i].b, Isa::kRef));
  }
  TEST_ASSERT_NULL(find_kernel(Op::kLinear, DType::q4g32, DType::q4g32, best_isa()));
}

}  // namespace mote::testing
