// SPDX-License-Identifier: Apache-2.0
//
// What has to happen before main, and traps: each ends the run with a line and the exit code 2.
#include "startup.h"

#include <string.h>

#include "console.h"

extern "C" {
extern unsigned char data_load[], data_start[], data_end[], bss_start[], bss_end[];
void reset(void);
[[noreturn, gnu::used]] void start(void);
[[noreturn, gnu::used]] void trap(void);
}

namespace {

constexpr uint32_t kUnusedStack = 0xA5A5A5A5;

/// Marks the stack below the stack pointer.
void mark_unused_stack() {
  volatile uint32_t* end;
  __asm__ volatile("mv %0, sp" : "=r"(end));
  for (auto* word = reinterpret_cast<volatile uint32_t*>(stack_bottom); word < end; ++word)
    *word = kUnusedStack;
}

}  // namespace

uint32_t stack_peak_bytes(void) {
  const auto* word = reinterpret_cast<const uint32_t*>(stack_bottom);
  while (*word == kUnusedStack) ++word;
  return static_cast<uint32_t>(stack_top - reinterpret_cast<const unsigned char*>(word));
}

__attribute__((naked, section(".reset"))) void reset(void) {
  __asm__ volatile(
      ".option arch, +zicsr\n\t"
      "la sp, stack_top\n\t"
      "la t0, trap\n\t"
      "csrw mtvec, t0\n\t"
      "j start");
}

void start(void) {
  mark_unused_stack();
  memcpy(data_start, data_load, static_cast<size_t>(data_end - data_start));
  memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  console_open();
  console_exit(main());
}

// mtvec takes an address that is a multiple of 4.
__attribute__((aligned(4))) void trap(void) {
  uint32_t cause, at;
  __asm__ volatile(".option arch, +zicsr\n\tcsrr %0, mcause\n\tcsrr %1, mepc\n\tla sp, stack_top"
                   : "=r"(cause), "=r"(at));
  print("failed: trap: cause ", Hex{cause}, ", at ", Hex{at}, "\n");
  console_exit(2);
}
