// SPDX-License-Identifier: Apache-2.0
//
// The console is the debugger's or the emulator's, which answers `bkpt 0xAB` (Semihosting for AArch32 and
// AArch64, Arm, 2.0). A board with nothing attached stops there with a fault.
#include "console.h"

namespace {

enum Operation : uint32_t { kWrite0 = 0x04, kExitExtended = 0x20 };
constexpr uint32_t kApplicationExit = 0x20026;

void call(Operation operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

}  // namespace

void console_write(const char* text) { call(kWrite0, text); }

void console_exit(int code) {
  const uint32_t reason[2] = {kApplicationExit, static_cast<uint32_t>(code)};
  call(kExitExtended, reason);
  for (;;) __asm__ volatile("wfi");
}
