// SPDX-License-Identifier: Apache-2.0
//
// Prints the kernel families that this processor runs, separated by semicolons, its best one last; with a
// family's name, those that a processor runs whose best family it is. CMake runs this program for
// MOTE_KERNELS=native and MOTE_KERNELS=NAME.
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

int main(int count, char** arguments) {
  mote::Isa best = mote::best_isa();
  if (count > 1 && !mote::isa_from_name(arguments[1], &best)) return 2;
  for (const mote::Family& one : mote::kFamilies) {
    if (one.isa != best && mote::runs_on(one.isa, best)) printf("%s;", one.name);
  }
  printf("%s", mote::isa_name(best));
}
