// SPDX-License-Identifier: Apache-2.0
//
// The vector table and what has to happen before main.
#include <stdint.h>
#include <string.h>

extern "C" {
extern uint32_t data_load, data_start, data_end, bss_start, bss_end, stack_top;
int main(void);
[[noreturn]] void reset(void);
[[noreturn]] void fault(void);
}

namespace {

using Handler = void (*)(void);

/// Coprocessor Access Control Register (Armv7-M Architecture Reference Manual, B3.2.20): bits 20 to 23 enable
/// the FPU.
volatile uint32_t* const kCpacr = reinterpret_cast<volatile uint32_t*>(0xE000ED88);

struct Vectors {
  uint32_t* stack;
  Handler handlers[15];
};

__attribute__((section(".vectors"), used))
const Vectors kVectors = {&stack_top,
                          {reset, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr, nullptr,
                           fault, fault, nullptr, fault, fault}};

}  // namespace

void reset(void) {
  *kCpacr |= 0xFu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  memcpy(&data_start, &data_load,
         static_cast<size_t>(reinterpret_cast<char*>(&data_end) - reinterpret_cast<char*>(&data_start)));
  memset(&bss_start, 0,
         static_cast<size_t>(reinterpret_cast<char*>(&bss_end) - reinterpret_cast<char*>(&bss_start)));
  main();
  for (;;) __asm__ volatile("wfi");
}

void fault(void) {
  for (;;) __asm__ volatile("bkpt 0");
}
