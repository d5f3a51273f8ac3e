// SPDX-License-Identifier: Apache-2.0
//
// The console is the debugger's or the emulator's. A board with nothing attached says nothing and hears
// nothing.
#include "console.h"
#include "semihosting.h"

void console_open(void) {}

void console_write(const char* text) {
  if (semihosting_is_answered()) semihosting_call(kWrite0, text);
}

int console_read(void) {
  return semihosting_is_answered() ? static_cast<int>(semihosting_call(kReadC, nullptr)) : -1;
}

void console_exit(int code) { semihosting_exit(code); }
