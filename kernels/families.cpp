// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"

#include <string.h>

#include "kernels/dispatch.h"

namespace mote {
namespace {

// Measured on the x86 processors of docs/lab. In lanes each thread reads all weights: from these numbers of
// rows on, the multiplications take longer than the reads from caches or memory. Integer weights that are not
// cached are read by each thread where the rows are many for the width of the first weight. A pass of 128
// rows for each thread keeps the buffers between an encoder's operations in an L2 of 1 MiB.
constexpr Tuning kX86 = {128, true, {64u << 20, 8, 32}, {16u << 20, 4}, 8, 128};

// No thresholds were measured for these families, so they have no lanes.
constexpr Tuning kUntuned = {128, false, {}, {}, 1, 0};

constexpr Features kAvx2Family = kSse41 | kAvx2 | kFma | kF16c;
constexpr Features kAvx512Family = kAvx2Family | kAvx512 | kAvx512Vnni;
constexpr Features kNeonFamily = kNeon | kFma;

constexpr bool each_once(const Family (&families)[kIsaCount]) {
  uint32_t found = 0;
  for (const Family& one : families) found |= 1u << static_cast<uint32_t>(one.isa);
  return found == (1u << kIsaCount) - 1;
}

bool built_with(Isa isa) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].isa == isa) return true;
  }
  return false;
}

}  // namespace

constexpr Family kFamilies[kIsaCount] = {
#define ISA(Name, NAME, name, number, features, tuning, flags) {Isa::k##Name, #name, features, &tuning},
#include "kernels/isa_list.inc"
};
static_assert(each_once(kFamilies));

const Family& family(Isa isa) {
  const Family* one = kFamilies;
  while (one->isa != isa) ++one;
  return *one;
}

bool isa_from_name(const char* name, Isa* isa) {
  for (const Family& one : kFamilies) {
    if (strcmp(name, one.name) != 0) continue;
    *isa = one.isa;
    return true;
  }
  return false;
}

bool isa_available(Isa isa) {
#ifdef MOTE_NATIVE_FAMILY
  // The build has only some kernels of other families: with those and the reference, floats would round as in
  // no family.
  if (isa != Isa::kRef && strcmp(isa_name(isa), MOTE_NATIVE_FAMILY) != 0) return false;
#endif
  return isa == Isa::kRef || (built_with(isa) && has_all(cpu_features(), family(isa).features));
}

Isa best_isa() {
  const Family* one = kFamilies + kIsaCount - 1;
  while (!isa_available(one->isa)) --one;
  return one->isa;
}

}  // namespace mote
