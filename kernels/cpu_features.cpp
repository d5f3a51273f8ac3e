// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <string.h>

#include <atomic>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace mote {

#if defined(__x86_64__)

namespace {

/// The answer of cpuid.
struct Leaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  Leaf(uint32_t leaf, uint32_t subleaf) {
    if (__get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx) == 0) eax = ebx = ecx = edx = 0;
  }
};

// Which register states the operating system saves (XCR0).
uint32_t saved_states() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Says whether the operating system lets this process use AMX's tiles, the next state after those of XCR0's
// bit 17.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kArchPrctl = 158, kReqXcompPerm = 0x1023, kTileData = 18;  // arch_prctl(2)
  long result = kArchPrctl;
  __asm__ volatile("syscall" : "+a"(result) : "D"(kReqXcompPerm), "S"(kTileData) : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;  // others have ways of their own
#endif
}

// Intel SDM volume 2A, CPUID: leaf 1 ECX, leaf 7.0 EBX, ECX and EDX, leaf 7.1 EAX; volume 1, chapter 13:
// XCR0.
Features find_features() {
  constexpr uint32_t kOsxsave = 1u << 27, kYmm = 0x6, kZmm = 0xE6, kTiles = 0x60000;
  constexpr uint32_t kFDqBwVl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  constexpr uint32_t kTileInt8 = 1u << 24 | 1u << 25;
  const Leaf one(1, 0);
  const Leaf seven(7, 0);
  const Leaf seven_1(7, 1);
  const uint32_t states = has_all(one.ecx, kOsxsave) ? saved_states() : 0;
  Features found = 0;
  const auto add = [&](Features feature, bool has) {
    if (has) found |= feature;
  };
  add(kSse41, has_all(one.ecx, 1u << 9 | 1u << 19));  // SSSE3 too
  if (has_all(states, kYmm) && has_all(one.ecx, 1u << 28)) {
    add(kFma, has_all(one.ecx, 1u << 12));
    add(kF16c, has_all(one.ecx, 1u << 29));
    add(kAvx2, has_all(seven.ebx, 1u << 5));
    add(kAvxVnni, has_all(seven_1.eax, 1u << 4));
  }
  if (has_all(states, kZmm) && has_all(seven.ebx, kFDqBwVl)) {
    add(kAvx512, true);
    add(kAvx512Vnni, has_all(seven.ecx, 1u << 11));
    add(kAvx512Bf16, has_all(seven_1.eax, 1u << 5));
    add(kAmxInt8, has_all(seven.edx, kTileInt8) && has_all(states, kTiles) && may_use_tiles());
  }
  return found;
}

bool is_amd() {
  const Leaf zero(0, 0);
  const uint32_t vendor[] = {zero.ebx, zero.edx, zero.ecx};
  return memcmp(vendor, "AuthenticAMD", sizeof vendor) == 0;
}

// AMD's family 19h: of its processors only Zen 4 have AVX-512. (AMD64 APM volume 3, appendix E: the extended
// family counts where the family is 15.)
bool is_zen4() {
  const Leaf one(1, 0);
  return is_amd() && (one.eax >> 8 & 15) + (one.eax >> 20 & 255) == 0x19;
}

}  // namespace

Features cpu_features() {
  constexpr Features kFound = 1u << 31;
  static std::atomic<Features> known{0};
  Features features = known.load(std::memory_order_relaxed);
  if (features == 0) known.store(features = find_features() | kFound, std::memory_order_relaxed);
  return features & ~kFound;
}

bool cpu_halves_512() {
  // Kernels ask at each call, and where the machine is virtual cpuid takes microseconds.
  static std::atomic<int8_t> known{-1};
  int8_t halves = known.load(std::memory_order_relaxed);
  if (halves < 0) known.store(halves = is_zen4(), std::memory_order_relaxed);
  return halves != 0;
}

#else

#if defined(__aarch64__)
// Advanced SIMD is part of the architecture. Linux tells of the rest
// (Documentation/arch/arm64/elf_hwcaps.rst); elsewhere it is what the compiler was told.
Features cpu_features() {
  Features found = kNeon | kFma;
#if defined(__linux__)
  constexpr unsigned long kAsimdDp = 1ul << 20, kI8mmBf16 = 1ul << 13 | 1ul << 14;
  if (getauxval(AT_HWCAP) & kAsimdDp) found |= kDotprod;
  if ((getauxval(AT_HWCAP2) & kI8mmBf16) == kI8mmBf16) found |= kI8mm;
#else
#if defined(__ARM_FEATURE_DOTPROD)
  found |= kDotprod;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_BF16)
  found |= kI8mm;
#endif
#endif
  return found;
}
#elif defined(__arm__) && defined(__linux__)
Features cpu_features() {
  constexpr unsigned long kNeonVfp4 = 1ul << 12 | 1ul << 16;
  return (getauxval(AT_HWCAP) & kNeonVfp4) == kNeonVfp4 ? kArmv7Neon | kFma : 0;
}
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
// Firmware runs on the processor that it was compiled for.
Features cpu_features() {
  Features found = 0;
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
  found |= kDsp | kFma;
#endif
#if defined(__ARM_FEATURE_MVE)
  found |= kHelium;
#endif
  return found;
}
#else
Features cpu_features() { return 0; }
#endif

bool cpu_halves_512() { return false; }

#endif

}  // namespace mote
