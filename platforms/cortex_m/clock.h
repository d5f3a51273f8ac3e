// SPDX-License-Identifier: Apache-2.0
//
// A free-running clock of the processor: on Arm SysTick, 24 bits of its cycles (Armv7-M Architecture
// Reference Manual, B3.3); on RISC-V its count of instructions. A board that uses SysTick itself has a
// function board_ticks in its place and says so by MOTE_BOARD_HAS_TICKS.
#pragma once

#include <stdint.h>

#ifdef MOTE_BOARD_HAS_TICKS
/// Ticks of the board's own clock, modulo 2^32.
extern "C" uint32_t board_ticks(void);
#endif

namespace mote_clock {

#if defined(MOTE_BOARD_HAS_TICKS)
static inline void start(void) {}

static inline uint32_t now(void) { return board_ticks(); }

/// Ticks from one reading to a later one, less than 2^32.
static inline uint32_t between(uint32_t begin, uint32_t end) { return end - begin; }
#elif defined(__riscv)
static inline void start(void) {}

static inline uint32_t now(void) {
  uint32_t count;
  __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrr %0, minstret\n\t.option pop" : "=r"(count));
  return count;
}

/// Ticks from one reading to a later one, less than 2^32.
static inline uint32_t between(uint32_t begin, uint32_t end) { return end - begin; }
#else
static inline volatile uint32_t& at(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}

static inline void start(void) {
  at(0xE000E014) = 0xFFFFFF;  // counts down from here
  at(0xE000E018) = 0;
  at(0xE000E010) = 5;  // enabled, of the processor's clock, no interrupt
}

static inline uint32_t now(void) { return at(0xE000E018); }

/// Ticks from one reading to a later one, less than 2^24.
static inline uint32_t between(uint32_t begin, uint32_t end) { return (begin - end) & 0xFFFFFF; }
#endif

}  // namespace mote_clock
