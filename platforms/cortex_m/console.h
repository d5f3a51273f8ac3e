// SPDX-License-Identifier: Apache-2.0
//
// How firmware speaks: texts and numbers, and the end of a run. A board names the console that it has; the
// file console_<name>.cpp supplies the four functions console_*.
#pragma once

#include <stdint.h>

/// Before the first use.
void console_open(void);

/// Writes a zero-terminated text.
void console_write(const char* text);

/// The next byte received, -1 if there is none yet.
int console_read(void);

/// Ends the run, with this code where something waits for it.
[[noreturn]] void console_exit(int code);

/// A number to be printed as 0x and 8 digits.
struct Hex {
  uint32_t value;
};

void print_one(const char* text);
void print_one(uint32_t value);
void print_one(int32_t value);
void print_one(float value);  // six digits after the point, towards 0; at most 4000
void print_one(Hex value);

/// Prints its arguments one after the other.
template <class... Values>
void print(Values... values) {
  (print_one(values), ...);
}
