// SPDX-License-Identifier: Apache-2.0
//
// SysTick as a free-running clock of 24 bits at the processor's frequency (Armv7-M Architecture Reference
// Manual, B3.3).
#pragma once

#include <stdint.h>

namespace mote_clock {

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

}  // namespace mote_clock
