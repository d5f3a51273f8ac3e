// SPDX-License-Identifier: Apache-2.0
//
// The kernel families that tests walk.
#pragma once

#include <vector>

#include "runtime/isa.h"

namespace test {

/// All that this CPU runs, the reference first.
inline std::vector<mote_isa> all_families() {
  std::vector<mote_isa> found;
  for (uint32_t i = 0; i < mote::kIsaCount; ++i) {
    const auto isa = static_cast<mote::Isa>(i);
    if (mote::isa_available(isa)) found.push_back(mote::isa_to_public(isa));
  }
  return found;
}

}  // namespace test
