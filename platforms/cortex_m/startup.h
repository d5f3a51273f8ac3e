// SPDX-License-Identifier: Apache-2.0
//
// The functions that run before main, and the symbols that the linker script decided.
#pragma once

#include <stdint.h>

extern "C" {
extern unsigned char stack_bottom[], stack_top[];
extern unsigned char arena_start[], arena_end[];  // 64-byte aligned, not cleared
int main(void);                                   // its result ends the run as an exit code
}

/// A board's own, where it has them. board_start runs once before main, after variables are what they begin
/// as, and before console_open: clocks, pins, caches, a watchdog. board_turn runs at each turn of an image's
/// main loop: to feed a watchdog, for example. Interrupts have handlers of CMSIS's names, such as
/// SysTick_Handler; those of devices are a table in the section .vectors.device, which lies behind the
/// processor's.
extern "C" {
[[gnu::weak]] void board_start(void);
[[gnu::weak]] void board_turn(void);
}

/// The most bytes of stack that were in use since the start.
uint32_t stack_peak_bytes(void);
