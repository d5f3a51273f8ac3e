// SPDX-License-Identifier: Apache-2.0
//
// Kernel families: sets of CPU features with a name. A line of kernel_list.inc names the family whose
// features its kernel needs; it runs on every family that has these among its own.
#pragma once

#include "kernels/cpu_features.h"

namespace mote {

/// A family, one less than its number as mote_isa; the numbers do not rank the families.
enum class Isa : uint8_t {
#define ISA(Name, NAME, name, number, features, tuning, flags) k##Name = number - 1,
#include "kernels/isa_list.inc"
};
#define ISA(Name, NAME, name, number, features, tuning, flags) +1
inline constexpr uint32_t kIsaCount = 0
#include "kernels/isa_list.inc"
    ;

/// Thresholds of the executor that were measured on processors of a family.
struct Tuning {
  uint32_t pass_rows;  // that an encoder's pass has for each thread, at most (runtime/exec/passes.h)

  // The least rows with which threads have lanes (runtime/exec/lane.h).
  bool lanes;  // whether they ever have
  struct {
    uint64_t cached_bytes;                // weights of a program that caches hold, or deliver fast enough
    uint32_t cached_rows, uncached_rows;  // of each thread
  } floats;
  struct {
    uint64_t cached_bytes;
    uint32_t cached_rows;  // of each thread
  } integers;
  // The rows of all threads, where integer weights are not cached: one row for each so many columns of the
  // first weight, at most `most_rows`.
  uint32_t columns_of_row, most_rows;
};

struct Family {
  Isa isa;
  const char* name;  // as in MOTE_ISA
  Features features;
  const Tuning* tuning;
};

/// The families of all architectures, the better ones of each later.
extern const Family kFamilies[kIsaCount];

const Family& family(Isa isa);

inline const char* isa_name(Isa isa) { return family(isa).name; }

/// False for a name that is none.
bool isa_from_name(const char* name, Isa* isa);

/// Says whether kernels of family `kernel` may run where family `chosen` was chosen.
inline bool runs_on(Isa kernel, Isa chosen) {
  return has_all(family(chosen).features, family(kernel).features);
}

/// Says whether this CPU and its operating system run the family and mote was built with it.
bool isa_available(Isa isa);

/// The last family of the table that is available; kernels that it lacks come from those that run on it.
Isa best_isa();

}  // namespace mote
