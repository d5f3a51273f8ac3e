// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cpu_features.h"
#include "runtime/isa.h"

namespace test {

/// Every kernel family that this build has and this CPU runs, the reference first.
inline std::vector<mote_isa> families() {
  std::vector<mote_isa> found;
  for (uint32_t i = 0; i < mote::kIsaCount; ++i) {
    const auto isa = static_cast<mote::Isa>(i);
    if (mote::isa_available(isa)) found.push_back(mote::isa_to_public(isa));
  }
  return found;
}

}  // namespace test
