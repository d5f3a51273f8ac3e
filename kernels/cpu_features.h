// SPDX-License-Identifier: Apache-2.0
//
// The features of this CPU that kernels ask for.
#pragma once

#include <stdint.h>

#include "schema/little_endian.h"

namespace mote {

/// A set of features, a bit each.
using Features = uint32_t;

inline constexpr Features kSse41 = 1u << 0;  // and the SSE before it
inline constexpr Features kAvx2 = 1u << 1;
inline constexpr Features kFma = 1u << 2;  // floats are multiplied and added with one rounding
inline constexpr Features kF16c = 1u << 3;
inline constexpr Features kAvxVnni = 1u << 4;
inline constexpr Features kAvx512 = 1u << 5;  // F, BW, DQ and VL
inline constexpr Features kAvx512Vnni = 1u << 6;
inline constexpr Features kAvx512Bf16 = 1u << 7;
inline constexpr Features kAmxInt8 = 1u << 8;  // and its tiles
inline constexpr Features kNeon = 1u << 9;
inline constexpr Features kDotprod = 1u << 10;
inline constexpr Features kI8mm = 1u << 11;       // and dot products of bf16, as Armv8.6 has
inline constexpr Features kArmv7Neon = 1u << 12;  // in 32 bits, with VFPv4
inline constexpr Features kDsp = 1u << 13;        // Cortex-M4, M7 and M33, with an FPU
inline constexpr Features kHelium = 1u << 14;     // Cortex-M55 and M85

constexpr bool has_all(Features set, Features wanted) { return (set & wanted) == wanted; }

/// The features that this CPU has and its operating system lets a process use, found once. Linux grants a
/// process AMX's tiles on request. This function makes the request where the CPU has them; the stacks of
/// signal handlers then need 11 KiB more.
Features cpu_features();

/// Says whether this CPU runs vectors of 512 bits in two passes (Zen 4). Vectors of 256 bits then compute at
/// the same rate, and read memory faster.
bool cpu_halves_512();

}  // namespace mote
