// SPDX-License-Identifier: Apache-2.0
//
// The console is UART0 of an RP2350, a PL011 (Arm DDI 0183), at pins GP0 and GP1. Its clock is the
// processor's, which board_start raises from the crystal's 12 MHz to 150 MHz (RP2350
// Datasheet, 7.5, 8.1, 8.2, 8.6, 9.11). A run ends by semihosting where a debugger is attached, else it
// waits.
#include "console.h"
#include "semihosting.h"
#include "startup.h"

namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t kClear = 0x3000;  // an alias of a register in which ones clear bits
constexpr uintptr_t kClocks = 0x40010000, kReference = 0x30, kSystem = 0x3C, kPeripherals = 0x48,
                    kSelected = 8;
constexpr uintptr_t kResets = 0x40020000, kResetDone = 8;
constexpr uintptr_t kPins = 0x40028000, kPads = 0x40038000;
constexpr uintptr_t kCrystal = 0x40048000, kCrystalState = 4, kCrystalDelay = 12;
constexpr uintptr_t kPll = 0x40050000, kPllPower = 4, kPllFactor = 8, kPllDividers = 12;

constexpr uint32_t kPinsReset = 1u << 6, kPadsReset = 1u << 9, kPllReset = 1u << 14, kUartReset = 1u << 26;

void release(uint32_t blocks) {
  at(kResets + kClear) = blocks;
  while ((at(kResets + kResetDone) & blocks) != blocks) {
  }
}

void select(uintptr_t clock, uint32_t source) {
  at(kClocks + clock) = source;
  while ((at(kClocks + clock + kSelected) & 1u << (source & 3)) == 0) {
  }
}

void use_pin(uint32_t pin) {
  constexpr uint32_t kUart = 2, kInput = 1u << 6, kOff = 1u << 7, kIsolated = 1u << 8;
  volatile uint32_t& pad = at(kPads + 4 + 4 * pin);
  pad = (pad | kInput) & ~kOff;
  at(kPins + 8 * pin + 4) = kUart;
  pad = pad & ~kIsolated;
}

struct Uart {
  uint32_t data, unused[5];
  uint32_t state;  // bit 4: nothing was received; bit 5: no more can be sent
  uint32_t unused2[2];
  uint32_t divider, divider_64ths, line, control;
};

volatile Uart& uart() { return *reinterpret_cast<volatile Uart*>(uintptr_t{MOTE_BOARD_UART}); }

}  // namespace

void board_start(void) {
  at(kCrystal + kCrystalDelay) = 47 * 8;  // of 256 cycles: 8 ms
  at(kCrystal) = 0xFAB << 12 | 0xAA0;     // on, 1 to 15 MHz
  while ((at(kCrystal + kCrystalState) & 1u << 31) == 0) {
  }
  select(kSystem, 0);  // the reference, while the PLL changes
  select(kReference, 2);
  release(kPllReset);
  at(kPll) = 1;                 // the crystal by 1
  at(kPll + kPllFactor) = 125;  // 1500 MHz
  at(kPllPower + kPll + kClear) = 1u << 0 | 1u << 5;
  while ((at(kPll) & 1u << 31) == 0) {
  }
  at(kPllDividers + kPll) = 5u << 16 | 2u << 12;  // 150 MHz
  at(kPllPower + kPll + kClear) = 1u << 3;
  select(kSystem, 1);
  at(kClocks + kPeripherals) = 1u << 11;  // on, the system's clock
}

void console_open(void) {
  release(kPinsReset | kPadsReset | kUartReset);
  constexpr uint32_t kDivider64 =
      (MOTE_BOARD_CLOCK_HZ / 115200 * 8 + 1) / 2;  // in 64ths, of 16 samples a bit
  uart().divider = kDivider64 / 64;
  uart().divider_64ths = kDivider64 % 64;
  uart().line = 3u << 5 | 1u << 4;          // 8 bits, with queues
  uart().control = 1u | 1u << 8 | 1u << 9;  // on, sends, receives
  use_pin(0);
  use_pin(1);
}

void console_write(const char* text) {
  for (; *text != '\0'; ++text) {
    while ((uart().state & 1u << 5) != 0) {
    }
    uart().data = static_cast<uint8_t>(*text);
  }
}

int console_read(void) {
  if ((uart().state & 1u << 4) != 0) return -1;
  return static_cast<int>(uart().data & 255u);
}

void console_exit(int code) { semihosting_exit(code); }
