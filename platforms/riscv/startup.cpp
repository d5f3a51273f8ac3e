// SPDX-License-Identifier: Apache-2.0
//
// Does the work before main, and handles traps: each ends the run with a line and the exit code 2.
#include "start_program.h"

extern "C" {
void reset(void);
[[noreturn, gnu::used]] void start(void);
[[noreturn, gnu::used]] void trap(void);
}

namespace {

[[gnu::always_inline]] inline volatile uint32_t* stack_pointer() {
  volatile uint32_t* end;
  __asm__ volatile("mv %0, sp" : "=r"(end));
  return end;
}

}  // namespace

__attribute__((naked, section(".reset"))) void reset(void) {
  __asm__ volatile(
      ".option arch, +zicsr\n\t"
      "la sp, stack_top\n\t"
      "la t0, trap\n\t"
      "csrw mtvec, t0\n\t"
      "j start");
}

void start(void) { start_program(stack_pointer()); }

// mtvec takes an address that is a multiple of 4.
__attribute__((aligned(4))) void trap(void) {
  uint32_t cause, at;
  __asm__ volatile(".option arch, +zicsr\n\tcsrr %0, mcause\n\tcsrr %1, mepc\n\tla sp, stack_top"
                   : "=r"(cause), "=r"(at));
  print("failed: trap: cause ", Hex{cause}, ", at ", Hex{at}, "\n");
  console_exit(2);
}
