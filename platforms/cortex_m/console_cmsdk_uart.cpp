// SPDX-License-Identifier: Apache-2.0
//
// The console is the UART of Arm's CMSDK (Cortex-M System Design Kit, DDI 0479, 4.3). A run ends by
// semihosting, which the emulator or a debugger answers; with nothing attached it waits.
#include "console.h"
#include "semihosting.h"

namespace {

struct Uart {
  uint32_t data;
  uint32_t state;    // bit 0: the transmitter is full; bit 1: a byte was received
  uint32_t control;  // bit 0 enables sending, bit 1 receiving
  uint32_t interrupts;
  uint32_t divider;  // of the clock, at least 16
};

volatile Uart& uart() { return *reinterpret_cast<volatile Uart*>(uintptr_t{MOTE_BOARD_UART}); }

}  // namespace

void console_open(void) {
  uart().divider = MOTE_BOARD_CLOCK_HZ / 115200;
  uart().control = 3;
}

void console_write(const char* text) {
  for (; *text != '\0'; ++text) {
    while ((uart().state & 1u) != 0) {
    }
    uart().data = static_cast<uint8_t>(*text);
  }
}

int console_read(void) {
  if ((uart().state & 2u) == 0) return -1;
  return static_cast<int>(uart().data & 255u);
}

void console_exit(int code) { semihosting_exit(code); }
