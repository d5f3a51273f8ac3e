// SPDX-License-Identifier: Apache-2.0
//
// A board's own part: a console whose bytes come in by interrupt, a tick, a watchdog that the main loop
// feeds. Nothing of mote's start-up is changed: handlers have CMSIS's names or stand in the table of devices.
#include "console.h"
#include "semihosting.h"
#include "startup.h"

namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// SysTick and NVIC (Armv7-M Architecture Reference Manual, B3.3 and B3.4).
constexpr uintptr_t kTickControl = 0xE000E010, kTickReload = 0xE000E014, kTickNow = 0xE000E018;
constexpr uintptr_t kInterruptEnable = 0xE000E100, kPending = 0xE000ED04;
constexpr uint32_t kTickPending = 1u << 26;
constexpr uint32_t kTicks = MOTE_BOARD_CLOCK_HZ / BOARD_TICKS_PER_SECOND;  // cycles between two ticks

// A UART and a watchdog of Arm's CMSDK (Cortex-M System Design Kit, DDI 0479, 4.3 and 4.4).
constexpr uintptr_t kUart = 0x40004000, kData = 0, kState = 4, kControl = 8, kInterrupt = 12, kDivider = 16;
constexpr uint32_t kUartReceived = 0;  // the number of its interrupt
constexpr uintptr_t kWatchdog = 0x40008000, kLoad = 0, kWatchdogControl = 8, kClear = 12, kLock = 0xC00;
constexpr uint32_t kUnlock = 0x1ACCE551;

constexpr uint32_t kReceivedBytes = 256;  // a power of 2: a line that comes while an answer is made
volatile uint8_t received[kReceivedBytes];
volatile uint32_t received_count, read_count;  // each is written at one place alone
volatile uint32_t milliseconds;

void take_bytes(void) {
  at(kUart + kInterrupt) = 2;
  while ((at(kUart + kState) & 2u) != 0) {
    const uint8_t byte = static_cast<uint8_t>(at(kUart + kData));
    if (received_count - read_count == kReceivedBytes) continue;  // full: the byte is lost
    received[received_count % kReceivedBytes] = byte;
    received_count = received_count + 1;
  }
}

using Handler = void (*)(void);
// The interrupts of devices from number 0 on.
[[gnu::section(".vectors.device"), gnu::used]] const Handler kDevices[] = {take_bytes};

}  // namespace

extern "C" void SysTick_Handler(void) { milliseconds = milliseconds + 1; }

extern "C" uint32_t board_ticks(void) {
  uint32_t count, left;
  bool pending;
  do {
    count = milliseconds;
    left = at(kTickNow);
    pending = (at(kPending) & kTickPending) != 0;
  } while (count != milliseconds);
  if (pending) {  // the tick of which the handler has not run yet
    left = at(kTickNow);
    ++count;
  }
  // A tick is when the counter reaches 0; it goes on with the reload value.
  return count * kTicks + (left == 0 ? 0 : kTicks - left);
}

void board_start(void) {
  at(kTickReload) = kTicks - 1;
  at(kTickNow) = 0;
  at(kTickControl) = 7;  // enabled, of the processor's clock, with an interrupt
  at(kWatchdog + kLock) = kUnlock;
  at(kWatchdog + kLoad) = MOTE_BOARD_CLOCK_HZ;  // a second, then a warning, then a reset
  at(kWatchdog + kWatchdogControl) = 3;
}

void board_turn(void) { at(kWatchdog + kClear) = 1; }

void console_open(void) {
  at(kUart + kDivider) = MOTE_BOARD_CLOCK_HZ / 115200;
  at(kUart + kControl) = 1u | 2u | 8u;  // sends, receives, with an interrupt
  at(kInterruptEnable) = 1u << kUartReceived;
}

void console_write(const char* text) {
  for (; *text != '\0'; ++text) {
    while ((at(kUart + kState) & 1u) != 0) {
    }
    at(kUart + kData) = static_cast<uint8_t>(*text);
  }
}

int console_read(void) {
  if (read_count == received_count) return -1;
  const int byte = received[read_count % kReceivedBytes];
  read_count = read_count + 1;
  return byte;
}

void console_exit(int code) {
  at(kWatchdog + kWatchdogControl) = 0;  // a product leaves it on, and starts anew
  semihosting_exit(code);
}
