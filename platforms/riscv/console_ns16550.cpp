// SPDX-License-Identifier: Apache-2.0
//
// The console is an NS16550 UART. A run ends by the device `sifive_test` of QEMU's machine `virt`.
#include "console.h"

namespace {

volatile uint8_t& uart(uint32_t at) {
  return *reinterpret_cast<volatile uint8_t*>(uintptr_t{MOTE_BOARD_UART} + at);
}

constexpr uint32_t kData = 0, kState = 5;  // bit 0 of the state: a byte was received; bit 5: one may be sent
constexpr uintptr_t kTest = 0x100000;
constexpr uint32_t kPass = 0x5555, kFail = 0x3333;

}  // namespace

void console_open(void) {}

void console_write(const char* text) {
  for (; *text != '\0'; ++text) {
    while ((uart(kState) & 0x20) == 0) {
    }
    uart(kData) = static_cast<uint8_t>(*text);
  }
}

int console_read(void) { return (uart(kState) & 1) == 0 ? -1 : int{uart(kData)}; }

void console_exit(int code) {
  *reinterpret_cast<volatile uint32_t*>(kTest) =
      code == 0 ? kPass : static_cast<uint32_t>(code) << 16 | kFail;
  for (;;) __asm__ volatile("wfi");
}
