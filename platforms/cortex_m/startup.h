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

/// The most bytes of stack that were in use since the start.
uint32_t stack_peak_bytes(void);
