// SPDX-License-Identifier: Apache-2.0
//
// The console is the debugger's or the emulator's. A board with nothing attached stops there with a fault.
#include "console.h"
#include "semihosting.h"

void console_open(void) {}

void console_write(const char* text) { semihosting_call(kWrite0, text); }

int console_read(void) { return static_cast<int>(semihosting_call(kReadC, nullptr)); }

void console_exit(int code) { semihosting_exit(code); }
