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

/// Ends the run with an exit code.
[[noreturn]] static inline void semihosting_exit(int code) {
  constexpr uint32_t kApplicationExit = 0x20026;
  const uint32_t reason[2] = {kApplicationExit, static_cast<uint32_t>(code)};
  semihosting_call(kExitExtended, reason);
  for (;;) __asm__ volatile("wfi");
}
