// SPDX-License-Identifier: Apache-2.0
//
// Calls of the debugger or the emulator by `bkpt 0xAB` (Semihosting for AArch32 and AArch64, Arm, 2.0).
#pragma once

#include <stdint.h>

enum SemihostingOperation : uint32_t { kWrite0 = 0x04, kReadC = 0x07, kExitExtended = 0x20 };

static inline uint32_t semihosting_call(SemihostingOperation operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// Says whether somebody answers: an emulator, or a debugger that is attached (DHCSR.C_DEBUGEN, Armv7-M
/// Architecture Reference Manual, C1.6.2). Without one `bkpt` is a fault.
static inline bool semihosting_is_answered(void) {
#ifdef MOTE_BOARD_EMULATED
  return true;
#else
  return (*reinterpret_cast<volatile uint32_t*>(uintptr_t{0xE000EDF0}) & 1u) != 0;
#endif
}

/// Ends the run with an exit code; waits for ever where nobody takes it.
[[noreturn]] static inline void semihosting_exit(int code) {
  constexpr uint32_t kApplicationExit = 0x20026;
  const uint32_t reason[2] = {kApplicationExit, static_cast<uint32_t>(code)};
  if (semihosting_is_answered()) semihosting_call(kExitExtended, reason);
  for (;;) __asm__ volatile("wfi");
}
