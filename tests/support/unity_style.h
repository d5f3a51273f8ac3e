// SPDX-License-Identifier: Apache-2.0
//
// Unity's vocabulary on top of Catch2, so that test bodies also fit a microcontroller's test runner.
//
//   static void setUp() { ... }       optional, in a test file, before its tests: run around each of its
//   tests static void tearDown() { ... } TEST("what must hold") { TEST_ASSERT_EQUAL_INT(4, 2 + 2); }
//
// As in Unity the expected value comes first. The _MESSAGE forms take a further text, shown on failure. Array
// forms look at everything and report the first difference.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <string>

#include "tests/support/catch2.h"

// A file's own setUp() and tearDown() are preferred over these templates.
template <class = void>
static void setUp() {}
template <class = void>
static void tearDown() {}

#define UNITY_STYLE_JOIN2(a, b) a##b
#define UNITY_STYLE_JOIN(a, b) UNITY_STYLE_JOIN2(a, b)
#define UNITY_STYLE_TEST(body, ...) \
  static void body();               \
  TEST_CASE(__VA_ARGS__) {          \
    setUp();                        \
    try {                           \
      body();                       \
    } catch (...) {                 \
      tearDown();                   \
      throw;                        \
    }                               \
    tearDown();                     \
  }                                 \
  static void body()
#define TEST(...) UNITY_STYLE_TEST(UNITY_STYLE_JOIN(unity_style_test_, __COUNTER__), __VA_ARGS__)

namespace unity_style {

/// Unity's float equality: a relative 1e-5, infinities and NaN equal to themselves.
bool equal_float(float expected, float actual);
bool within(double delta, double expected, double actual);

/// An assertion as it was written.
struct Place {
  const char* macro;
  const char* text;
  const char* file;
  size_t line;
};

// What fails is reported as Catch2's own macros do, which put the same into every use of them and so are most
// of the time that tests take to compile.
void assert_that(bool holds, const Place& place);
void assert_equal(int64_t expected, int64_t actual, const Place& place);
void assert_equal(uint64_t expected, uint64_t actual, const Place& place);
void assert_equal(const std::string& expected, const std::string& actual, const Place& place);
void assert_equal_memory(const void* expected, const void* actual, size_t bytes, const Place& place);
void assert_equal_float(float expected, float actual, const Place& place);
void assert_within(double delta, double expected, double actual, const Place& place);
/// `difference` is what first_difference() gives.
void assert_no_difference(const std::string& difference, const Place& place);

/// Empty if equal(i) for all i in 0..n-1, else where and what the first difference is.
template <class Equal, class T>
std::string first_difference(size_t n, const T* expected, const T* actual, Equal equal) {
  for (size_t i = 0; i < n; ++i) {
    if (!equal(expected[i], actual[i])) {
      return "element " + std::to_string(i) + ": expected " + Catch::Detail::stringify(expected[i]) +
             ", is " + Catch::Detail::stringify(actual[i]);
    }
  }
  return "";
}

template <class T>
std::string float_array_difference(double delta, const T* expected, const T* actual, size_t n) {
  return first_difference(n, expected, actual, [&](T e, T a) { return within(delta, e, a); });
}

}  // namespace unity_style

#define UNITY_STYLE_MESSAGE(assertion, message) \
  do {                                          \
    INFO(message);                              \
    assertion;                                  \
  } while (false)

// The text is that of the caller's arguments, before macros in them are expanded.
#define UNITY_STYLE_PLACE(macro, text) (::unity_style::Place{macro, text, __FILE__, __LINE__})
#define UNITY_STYLE_THAT(condition, macro, text) \
  ::unity_style::assert_that(static_cast<bool>(condition), UNITY_STYLE_PLACE(macro, text))
#define UNITY_STYLE_EQUAL_AS(type, expected, actual, text)                            \
  ::unity_style::assert_equal(static_cast<type>(expected), static_cast<type>(actual), \
                              UNITY_STYLE_PLACE("TEST_ASSERT_EQUAL", text))

#define TEST_FAIL_MESSAGE(message) FAIL(message)
#define TEST_ASSERT_TRUE(condition) UNITY_STYLE_THAT(condition, "TEST_ASSERT_TRUE", #condition)
#define TEST_ASSERT_FALSE(condition) UNITY_STYLE_THAT(!(condition), "TEST_ASSERT_FALSE", #condition)
#define TEST_ASSERT(condition) UNITY_STYLE_THAT(condition, "TEST_ASSERT", #condition)
#define TEST_ASSERT_NULL(pointer) UNITY_STYLE_THAT((pointer) == nullptr, "TEST_ASSERT_NULL", #pointer)
#define TEST_ASSERT_NOT_NULL(pointer) UNITY_STYLE_THAT((pointer) != nullptr, "TEST_ASSERT_NOT_NULL", #pointer)

#define TEST_ASSERT_EQUAL(expected, actual) REQUIRE((actual) == (expected))
#define TEST_ASSERT_NOT_EQUAL(expected, actual) REQUIRE((actual) != (expected))
#define TEST_ASSERT_EQUAL_INT(expected, actual) \
  UNITY_STYLE_EQUAL_AS(int64_t, expected, actual, #expected ", " #actual)
#define TEST_ASSERT_EQUAL_INT32(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_INT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_UINT32(expected, actual) \
  UNITY_STYLE_EQUAL_AS(uint64_t, expected, actual, #expected ", " #actual)
#define TEST_ASSERT_EQUAL_UINT64(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_SIZE_T(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_HEX32(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_PTR(expected, actual) \
  REQUIRE(static_cast<const void*>(actual) == static_cast<const void*>(expected))
#define TEST_ASSERT_EQUAL_STRING(expected, actual) \
  UNITY_STYLE_EQUAL_AS(std::string, expected, actual, #expected ", " #actual)
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, bytes)     \
  ::unity_style::assert_equal_memory(expected, actual, bytes, \
                                     UNITY_STYLE_PLACE("TEST_ASSERT_EQUAL_MEMORY", #expected ", " #actual))

#define TEST_ASSERT_LESS_THAN(threshold, actual) REQUIRE((actual) < (threshold))
#define TEST_ASSERT_LESS_OR_EQUAL(threshold, actual) REQUIRE((actual) <= (threshold))
#define TEST_ASSERT_GREATER_THAN(threshold, actual) REQUIRE((actual) > (threshold))
#define TEST_ASSERT_GREATER_OR_EQUAL(threshold, actual) REQUIRE((actual) >= (threshold))

#define TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual)     \
  ::unity_style::assert_within((delta), (expected), (actual), \
                               UNITY_STYLE_PLACE("TEST_ASSERT_WITHIN", #delta ", " #expected ", " #actual))
#define TEST_ASSERT_DOUBLE_WITHIN(delta, expected, actual) TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual)
#define TEST_ASSERT_INT_WITHIN(delta, expected, actual) TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual)
#define TEST_ASSERT_EQUAL_FLOAT(expected, actual)         \
  ::unity_style::assert_equal_float((expected), (actual), \
                                    UNITY_STYLE_PLACE("TEST_ASSERT_EQUAL_FLOAT", #expected ", " #actual))
#define TEST_ASSERT_FLOAT_IS_NAN(actual) UNITY_STYLE_THAT(isnan(actual), "TEST_ASSERT_FLOAT_IS_NAN", #actual)
#define TEST_ASSERT_EQUAL_FLOAT_ARRAY(expected, actual, n)                                    \
  ::unity_style::assert_no_difference(                                                        \
      ::unity_style::first_difference((n), (expected), (actual), ::unity_style::equal_float), \
      UNITY_STYLE_PLACE("TEST_ASSERT_EQUAL_FLOAT_ARRAY", #expected ", " #actual))
#define TEST_ASSERT_FLOAT_ARRAY_WITHIN(delta, expected, actual, n)               \
  ::unity_style::assert_no_difference(                                           \
      ::unity_style::float_array_difference((delta), (expected), (actual), (n)), \
      UNITY_STYLE_PLACE("TEST_ASSERT_FLOAT_ARRAY_WITHIN", #delta ", " #expected ", " #actual))

#define TEST_ASSERT_TRUE_MESSAGE(condition, message) UNITY_STYLE_MESSAGE(TEST_ASSERT_TRUE(condition), message)
#define TEST_ASSERT_FALSE_MESSAGE(condition, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_FALSE(condition), message)
#define TEST_ASSERT_NULL_MESSAGE(pointer, message) UNITY_STYLE_MESSAGE(TEST_ASSERT_NULL(pointer), message)
#define TEST_ASSERT_NOT_NULL_MESSAGE(pointer, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_NOT_NULL(pointer), message)
#define TEST_ASSERT_EQUAL_MESSAGE(expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL(expected, actual), message)
#define TEST_ASSERT_EQUAL_INT_MESSAGE(expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_INT(expected, actual), message)
#define TEST_ASSERT_EQUAL_UINT32_MESSAGE(expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_UINT32(expected, actual), message)
#define TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_STRING(expected, actual), message)
#define TEST_ASSERT_EQUAL_MEMORY_MESSAGE(expected, actual, bytes, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_MEMORY(expected, actual, bytes), message)
#define TEST_ASSERT_LESS_THAN_MESSAGE(threshold, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_LESS_THAN(threshold, actual), message)
#define TEST_ASSERT_LESS_OR_EQUAL_MESSAGE(threshold, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_LESS_OR_EQUAL(threshold, actual), message)
#define TEST_ASSERT_GREATER_THAN_MESSAGE(threshold, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_GREATER_THAN(threshold, actual), message)
#define TEST_ASSERT_EQUAL_FLOAT_MESSAGE(expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_FLOAT(expected, actual), message)
#define TEST_ASSERT_FLOAT_WITHIN_MESSAGE(delta, expected, actual, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual), message)
#define TEST_ASSERT_EQUAL_FLOAT_ARRAY_MESSAGE(expected, actual, n, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_EQUAL_FLOAT_ARRAY(expected, actual, n), message)
#define TEST_ASSERT_FLOAT_ARRAY_WITHIN_MESSAGE(delta, expected, actual, n, message) \
  UNITY_STYLE_MESSAGE(TEST_ASSERT_FLOAT_ARRAY_WITHIN(delta, expected, actual, n), message)
