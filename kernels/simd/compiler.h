// SPDX-License-Identifier: Apache-2.0
//
// The attributes that the vector templates ask of the compiler.
#pragma once

#define MOTE_INLINE __attribute__((always_inline))

/// For inner loops: inlined into one function, they spill each other's pointers.
#define MOTE_OWN_REGISTERS __attribute__((noinline))

/// Before a loop of at most 8 iterations over an array of registers: without it GCC 12 keeps the array in
/// memory.
#define MOTE_UNROLL _Pragma("GCC unroll 8")

/// Before a loop that must not be unrolled.
#define MOTE_ROLLED _Pragma("GCC unroll 1")

/// Before a loop over memory. Families whose iterations are mostly multiplications do not unroll it
/// (MOTE_WIDE_TURNS of cmake/isa.cmake).
#ifdef MOTE_WIDE_TURNS
#define MOTE_UNROLL_2
#define MOTE_UNROLL_4
#else
#define MOTE_UNROLL_2 _Pragma("GCC unroll 2")
#define MOTE_UNROLL_4 _Pragma("GCC unroll 4")
#endif

/// Keeps the vector x in a register here; without it GCC 12 keeps some sums of long unrolled loops in memory.
#if defined(__x86_64__)
#define MOTE_PIN(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define MOTE_PIN(x) __asm__("" : "+w"(x))
#endif
