// SPDX-License-Identifier: Apache-2.0
#include "console.h"

namespace {

/// Prints the last digits of a number to a base; `least` of them at least.
void print_digits(uint32_t value, uint32_t base, uint32_t least) {
  char digits[12];
  char* at = digits + sizeof digits - 1;
  *at = '\0';
  for (uint32_t count = 0; count < least || value != 0; ++count, value /= base) {
    *--at = "0123456789abcdef"[value % base];
  }
  console_write(at);
}

}  // namespace

void print_one(const char* text) { console_write(text); }

void print_one(uint32_t value) { print_digits(value, 10, 1); }

void print_one(int32_t value) {
  if (value < 0) console_write("-");
  print_one(value < 0 ? 0u - static_cast<uint32_t>(value) : static_cast<uint32_t>(value));
}

void print_one(float value) {
  if (value < 0) console_write("-");
  const float magnitude = value < 0 ? -value : value;
  if (!(magnitude <= 4000)) return console_write("over 4000");
  const uint32_t millionths = static_cast<uint32_t>(magnitude * 1e6f);
  print_one(millionths / 1000000);
  console_write(".");
  print_digits(millionths % 1000000, 10, 6);
}

void print_one(Hex value) {
  console_write("0x");
  print_digits(value.value, 16, 8);
}
