// SPDX-License-Identifier: Apache-2.0
//
// The public mote_isa is Isa with AUTO before it.
#pragma once

#include "kernels/families.h"
#include "mote/platform.h"

namespace mote {

#define ISA(Name, NAME, name, number, features, tuning, flags) \
  static_assert(MOTE_ISA_##NAME == number && static_cast<int>(Isa::k##Name) + 1 == number);
#include "kernels/isa_list.inc"

inline mote_isa isa_to_public(Isa isa) { return static_cast<mote_isa>(static_cast<int>(isa) + 1); }

/// False for AUTO and for values that are none.
inline bool isa_from_public(mote_isa isa, Isa* level) {
  const int value = static_cast<int>(isa);
  if (value < MOTE_ISA_REF || value > static_cast<int>(kIsaCount)) return false;
  *level = static_cast<Isa>(value - 1);
  return true;
}

}  // namespace mote
