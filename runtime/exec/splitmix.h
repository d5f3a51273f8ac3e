// SPDX-License-Identifier: Apache-2.0
//
// SplitMix64 (Steele et al. 2014): number n of a sequence is the seed and n steps, mixed.
#pragma once

#include <stdint.h>

namespace mote {

inline constexpr uint64_t kSplitMixStep = 0x9E3779B97F4A7C15u;

inline uint64_t splitmix_mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/// The next number; `state` begins as the seed.
inline uint64_t splitmix_next(uint64_t* state) { return splitmix_mix(*state += kSplitMixStep); }

}  // namespace mote
