// SPDX-License-Identifier: Apache-2.0
//
// The public mote_isa is Isa with AUTO before it.
#pragma once

#include "kernels/families.h"
#include "mote/platform.h"

namespace mote {

static_assert(MOTE_ISA_REF == static_cast<int>(Isa::kRef) + 1 &&
              MOTE_ISA_I8MM == static_cast<int>(Isa::kI8mm) + 1 &&
              MOTE_ISA_AMX_INT8 == static_cast<int>(Isa::kAmxInt8) + 1 &&
              MOTE_ISA_SSE == static_cast<int>(Isa::kSse) + 1 &&
              MOTE_ISA_ARMV7_NEON == static_cast<int>(Isa::kArmv7Neon) + 1 &&
              MOTE_ISA_HELIUM == static_cast<int>(Isa::kHelium) + 1 && MOTE_ISA_HELIUM == kIsaCount);

inline mote_isa isa_to_public(Isa isa) { return static_cast<mote_isa>(static_cast<int>(isa) + 1); }

/// False for AUTO and for values that are none.
inline bool isa_from_public(mote_isa isa, Isa* level) {
  const int value = static_cast<int>(isa);
  if (value < MOTE_ISA_REF || value > static_cast<int>(kIsaCount)) return false;
  *level = static_cast<Isa>(value - 1);
  return true;
}

}  // namespace mote
