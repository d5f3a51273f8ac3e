// SPDX-License-Identifier: Apache-2.0
//
// Unity's vocabulary and its lines of output, for tests that run on a microcontroller: no heap, no
// exceptions. A file's tests are functions, which main.cpp runs by RUN_TEST. A failed assertion prints its
// line and ends the test.
#pragma once

#include <stdint.h>
#include <string.h>

namespace unity {

/// Prints "file:line:test:FAIL: text" and leaves the running test.
[[noreturn]] void fail(const char* file, uint32_t line, const char* text);

/// Runs a test and prints "file:line:test:PASS" unless it failed.
void run(void (*test)(), const char* name, const char* file, uint32_t line);

/// Prints "3 Tests 0 Failures 0 Ignored" and OK or FAIL; the number of failures.
uint32_t finish();

}  // namespace unity

#define RUN_TEST(test) ::unity::run(test, #test, __FILE__, __LINE__)
#define TEST_ASSERT_TRUE(condition)                                  \
  do {                                                               \
    if (!(condition)) ::unity::fail(__FILE__, __LINE__, #condition); \
  } while (false)
#define TEST_ASSERT_EQUAL_INT(expected, actual) TEST_ASSERT_TRUE((expected) == (actual))
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, bytes) \
  TEST_ASSERT_TRUE(memcmp((expected), (actual), (bytes)) == 0)
