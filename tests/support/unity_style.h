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
#define TEST(...) UNITY_STYLE_TEST(UNITY_STYLE_JOIN(unity_style_test_, __LINE__), __VA_ARGS__)

namespace unity_style {

/// Unity's float equality: a relative 1e-5, infinities and NaN equal to themselves.
inline bool equal_float(float expected, float actual) {
  if (isnan(expected) || isnan(actual)) return isnan(expected) && isnan(actual);
  if (isinf(expected) || isinf(actual)) return expected == actual;
  return fabsf(actual - expected) <= fabsf(expected) * 1e-5f;
}

inline bool within(double delta, double expected, double actual) {
  return expected == actual || fabs(expected - actual) <= delta;
}

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

inline std::string memory_difference(const void* expected, const void* actual, size_t bytes) {
  return first_difference(bytes, static_cast<const uint8_t*>(expected), static_cast<const uint8_t*>(actual),
                          [](uint8_t e, uint8_t a) { return e == a; });
}

}  // namespace unity_style

#define UNITY_STYLE_MESSAGE(assertion, message) \
  do {                                          \
    INFO(message);                              \
    assertion;                                  \
  } while (false)

#define TEST_FAIL_MESSAGE(message) FAIL(message)
#define TEST_ASSERT_TRUE(condition) REQUIRE((condition))
#define TEST_ASSERT_FALSE(condition) REQUIRE_FALSE((condition))
#define TEST_ASSERT(condition) TEST_ASSERT_TRUE(condition)
#define TEST_ASSERT_NULL(pointer) REQUIRE((pointer) == nullptr)
#define TEST_ASSERT_NOT_NULL(pointer) REQUIRE((pointer) != nullptr)

#define TEST_ASSERT_EQUAL(expected, actual) REQUIRE((actual) == (expected))
#define TEST_ASSERT_NOT_EQUAL(expected, actual) REQUIRE((actual) != (expected))
#define TEST_ASSERT_EQUAL_INT(expected, actual) \
  REQUIRE(static_cast<int64_t>(actual) == static_cast<int64_t>(expected))
#define TEST_ASSERT_EQUAL_INT32(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_INT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_UINT32(expected, actual) \
  REQUIRE(static_cast<uint64_t>(actual) == static_cast<uint64_t>(expected))
#define TEST_ASSERT_EQUAL_UINT64(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_SIZE_T(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_HEX32(expected, actual) TEST_ASSERT_EQUAL_UINT32(expected, actual)
#define TEST_ASSERT_EQUAL_PTR(expected, actual) \
  REQUIRE(static_cast<const void*>(actual) == static_cast<const void*>(expected))
#define TEST_ASSERT_EQUAL_STRING(expected, actual) REQUIRE(std::string(actual) == std::string(expected))
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, bytes) \
  REQUIRE(unity_style::memory_difference(expected, actual, bytes) == "")

#define TEST_ASSERT_LESS_THAN(threshold, actual) REQUIRE((actual) < (threshold))
#define TEST_ASSERT_LESS_OR_EQUAL(threshold, actual) REQUIRE((actual) <= (threshold))
#define TEST_ASSERT_GREATER_THAN(threshold, actual) REQUIRE((actual) > (threshold))
#define TEST_ASSERT_GREATER_OR_EQUAL(threshold, actual) REQUIRE((actual) >= (threshold))
#define TEST_ASSERT_INT_WITHIN(delta, expected, actual) REQUIRE(unity_style::within(delta, expected, actual))

#define TEST_ASSERT_EQUAL_FLOAT(expected, actual)            \
  do {                                                       \
    CAPTURE(expected, actual);                               \
    REQUIRE(unity_style::equal_float((expected), (actual))); \
  } while (false)
#define TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual)        \
  do {                                                           \
    CAPTURE(expected, actual, delta);                            \
    REQUIRE(unity_style::within((delta), (expected), (actual))); \
  } while (false)
#define TEST_ASSERT_DOUBLE_WITHIN(delta, expected, actual) TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual)
#define TEST_ASSERT_FLOAT_IS_NAN(actual) REQUIRE(isnan(actual))
#define TEST_ASSERT_EQUAL_FLOAT_ARRAY(expected, actual, n) \
  REQUIRE(unity_style::first_difference((n), (expected), (actual), unity_style::equal_float) == "")
#define TEST_ASSERT_FLOAT_ARRAY_WITHIN(delta, expected, actual, n) \
  REQUIRE(unity_style::float_array_difference((delta), (expected), (actual), (n)) == "")

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
