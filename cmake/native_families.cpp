// SPDX-License-Identifier: Apache-2.0
//
// Prints the kernel families that this processor runs, separated by semicolons, its best one last. CMake runs
// this program for MOTE_KERNELS=native.
#include <stdio.h>

#include "kernels/cpu_features.cpp"
#include "kernels/families.cpp"

namespace mote {

// Stands in for the build's own list: a build with every family.
const KernelEntry* kernel_list(uint32_t* count) {
  static KernelEntry every[kIsaCount];
  for (uint32_t i = 0; i < kIsaCount; ++i) every[i].isa = kFamilies[i].isa;
  *count = kIsaCount;
  return every;
}

}  // namespace mote

int main() {
  const mote::Isa best = mote::best_isa();
  for (const mote::Family& one : mote::kFamilies) {
    if (one.isa != best && mote::runs_on(one.isa, best)) printf("%s;", one.name);
  }
  printf("%s", mote::isa_name(best));
}
