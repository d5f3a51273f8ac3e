// SPDX-License-Identifier: Apache-2.0
//
// The kernel families and which of them this CPU can run.
#pragma once

#include <stdint.h>

namespace mote {

/// Ordered within an architecture: a later level can run the kernels of the earlier ones that it includes.
/// kAvx512Bf16 is AVX-512-VNNI with dot products of bf16, kAmxInt8 is that with tiles of int8.
enum class Isa : uint8_t {
  kRef,
  kAvx2,
  kAvxVnni,
  kAvx512Vnni,
  kNeon,
  kDotprod,
  kI8mm,
  kAvx512Bf16,
  kAmxInt8
};
inline constexpr uint32_t kIsaCount = 9;

/// "ref", "avx2", ... as in MOTE_ISA.
const char* isa_name(Isa isa);

/// False for a name that is none.
bool isa_from_name(const char* name, Isa* isa);

/// Whether this CPU and its operating system run the family and mote was built with it. Linux gives a process
/// AMX's tiles when it asks for them, which this does: signal handlers' stacks then need 11 KiB more.
bool isa_available(Isa isa);

/// The highest family available; kernels that it lacks come from the families it includes.
Isa best_isa();

/// Whether this CPU runs vectors of 512 bits in two passes (Zen 4): those of 256 bits then do as much work,
/// and reads that miss the cache come faster.
bool cpu_halves_512();

/// Whether kernels of family `kernel` may run where `level` was chosen.
bool isa_includes(Isa level, Isa kernel);

}  // namespace mote
