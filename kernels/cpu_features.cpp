// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_features.h"

#include <string.h>

#include "kernels/dispatch.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <atomic>
#endif

namespace mote {
namespace {

constexpr const char* kNames[kIsaCount] = {"ref",     "avx2", "avx_vnni",    "avx512_vnni", "neon",
                                           "dotprod", "i8mm", "avx512_bf16", "amx_int8"};

#if defined(__x86_64__)

constexpr bool has_all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

// Which register states the operating system saves (XCR0).
uint32_t saved_states() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool is_amd() {
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const uint32_t vendor[] = {ebx, edx, ecx};
  return memcmp(vendor, "AuthenticAMD", sizeof vendor) == 0;
}

// Whether the operating system lets this process use AMX's tiles, the next state after those of XCR0's
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

// Intel SDM volume 2A, CPUID: leaf 1 ECX, leaf 7.0 EBX, ECX and EDX, leaf 7.1 EAX.
bool cpu_runs(Isa isa) {
  constexpr uint32_t kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  constexpr uint32_t kAvx2 = 1u << 5, kAvxVnni = 1u << 4, kAvx512Vnni = 1u << 11, kAvx512Bf16 = 1u << 5;
  constexpr uint32_t kAvx512FDqBwVl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  constexpr uint32_t kAmxTile = 1u << 24, kAmxInt8 = 1u << 25;
  constexpr uint32_t kYmm = 0x6, kZmm = 0xE6, kTiles = 0x60000;
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || !has_all(ecx, kFma | kOsxsave | kAvx | kF16c))
    return false;
  const uint32_t states = saved_states();
  if (!has_all(states, kYmm) || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 ||
      !has_all(ebx, kAvx2)) {
    return false;
  }
  switch (isa) {
    case Isa::kAvx2:
      return true;
    case Isa::kAvx512Vnni:
      return has_all(ebx, kAvx512FDqBwVl) && has_all(ecx, kAvx512Vnni) && has_all(states, kZmm);
    case Isa::kAvx512Bf16:
      return cpu_runs(Isa::kAvx512Vnni) && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
             has_all(eax, kAvx512Bf16);
    case Isa::kAmxInt8:
      return cpu_runs(Isa::kAvx512Bf16) && has_all(edx, kAmxTile | kAmxInt8) && has_all(states, kTiles) &&
             may_use_tiles();
    case Isa::kAvxVnni:
      return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && has_all(eax, kAvxVnni);
    default:
      return false;
  }
}

// AMD's family 19h: of its processors only Zen 4 have AVX-512. (AMD64 APM volume 3, appendix E: the extended
// family counts where the family is 15.)
bool is_zen4() {
  uint32_t eax, ebx, ecx, edx;
  return is_amd() && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax >> 8 & 15) + (eax >> 20 & 255) == 0x19;
}

#elif defined(__aarch64__)

bool cpu_runs(Isa isa) { return isa == Isa::kNeon; }  // part of the architecture

#else

bool cpu_runs(Isa) { return false; }

#endif

bool built_with(Isa isa) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].isa == isa) return true;
  }
  return false;
}

}  // namespace

const char* isa_name(Isa isa) { return kNames[static_cast<uint32_t>(isa)]; }

bool isa_from_name(const char* name, Isa* isa) {
  for (uint32_t i = 0; i < kIsaCount; ++i) {
    if (strcmp(name, kNames[i]) == 0) {
      *isa = static_cast<Isa>(i);
      return true;
    }
  }
  return false;
}

bool isa_available(Isa isa) { return isa == Isa::kRef || (built_with(isa) && cpu_runs(isa)); }

Isa best_isa() {
  uint32_t i = kIsaCount - 1;
  while (!isa_available(static_cast<Isa>(i))) --i;
  return static_cast<Isa>(i);
}

bool cpu_halves_512() {
#if defined(__x86_64__)
  // Kernels ask at each call, and where the machine is virtual cpuid takes microseconds.
  static std::atomic<int8_t> known{-1};
  int8_t halves = known.load(std::memory_order_relaxed);
  if (halves < 0) known.store(halves = is_zen4(), std::memory_order_relaxed);
  return halves != 0;
#else
  return false;
#endif
}

bool isa_includes(Isa level, Isa kernel) {
  if (kernel == Isa::kRef || kernel == level) return true;
  switch (level) {
    case Isa::kAvxVnni:
    case Isa::kAvx512Vnni:
      return kernel == Isa::kAvx2;  // neither VNNI has the other: Zen 4 lacks AVX-VNNI
    case Isa::kAvx512Bf16:
      return kernel == Isa::kAvx2 || kernel == Isa::kAvx512Vnni;
    case Isa::kAmxInt8:
      return kernel == Isa::kAvx2 || kernel == Isa::kAvx512Vnni || kernel == Isa::kAvx512Bf16;
    case Isa::kDotprod:
      return kernel == Isa::kNeon;
    case Isa::kI8mm:
      return kernel == Isa::kNeon || kernel == Isa::kDotprod;
    default:
      return false;
  }
}

}  // namespace mote
