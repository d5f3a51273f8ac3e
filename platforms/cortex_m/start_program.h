// SPDX-License-Identifier: Apache-2.0
//
// The work between reset and main, of any processor: for the one startup.cpp of an image.
#pragma once

#include <string.h>

#include "console.h"
#include "startup.h"

extern "C" {
extern unsigned char data_load[], data_start[], data_end[], bss_start[], bss_end[];
}

namespace {

constexpr uint32_t kUnusedStack = 0xA5A5A5A5;

/// Marks the stack below `end`, the stack pointer, makes variables what they begin as, and runs main.
[[noreturn, gnu::always_inline]] inline void start_program(volatile uint32_t* end) {
  for (auto* word = reinterpret_cast<volatile uint32_t*>(stack_bottom); word < end; ++word)
    *word = kUnusedStack;
  memcpy(data_start, data_load, static_cast<size_t>(data_end - data_start));
  memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  if (board_start != nullptr) board_start();
  console_open();
  console_exit(main());
}

}  // namespace

uint32_t stack_peak_bytes(void) {
  const auto* word = reinterpret_cast<const uint32_t*>(stack_bottom);
  while (*word == kUnusedStack) ++word;
  return static_cast<uint32_t>(stack_top - reinterpret_cast<const unsigned char*>(word));
}
