// SPDX-License-Identifier: Apache-2.0
//
// What runs before main, and what the linker script decided.
#pragma once

#include <stdint.h>

extern "C" {
extern unsigned char stack_bottom[], stack_top[];
extern unsigned char arena_start[], arena_end[];  // 64-byte aligned, not cleared
int main(void);                                   // its result ends the run as an exit code
}

/// The most bytes of stack that were in use since the start.
uint32_t stack_peak_bytes(void);
