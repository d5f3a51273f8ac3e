// SPDX-License-Identifier: Apache-2.0
//
// The assertions let pass what holds and end a test where something does not.
#include "tests/support/unity_style.h"

#define FAILS(name, ...) \
  TEST("unity style: " name " fails", "[!shouldfail]") { __VA_ARGS__; }

namespace {

const float kFloats[] = {1, 2}, kOtherFloats[] = {1, 3};

}  // namespace

TEST("unity style: what holds passes") {
  TEST_ASSERT_TRUE(1 < 2);
  TEST_ASSERT_FALSE(1 > 2);
  TEST_ASSERT_NULL(static_cast<const char*>(nullptr));
  TEST_ASSERT_NOT_NULL("text");
  TEST_ASSERT_EQUAL_INT(-1, INT64_C(-1));
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, UINT64_MAX);
  TEST_ASSERT_EQUAL_STRING("text", std::string("text"));
  TEST_ASSERT_EQUAL_MEMORY("abc", "abd", 2);
  TEST_ASSERT_EQUAL_FLOAT(NAN, NAN);
  TEST_ASSERT_EQUAL_FLOAT(1.0f, 1.000001f);
  TEST_ASSERT_FLOAT_WITHIN(0.5, 1.0, 1.4);
  TEST_ASSERT_EQUAL_FLOAT_ARRAY(kFloats, kOtherFloats, 1);
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(1.0, kFloats, kOtherFloats, 2);
}

FAILS("a false condition", TEST_ASSERT_TRUE(1 > 2))
FAILS("a true condition that must be false", TEST_ASSERT_FALSE(1 < 2))
FAILS("a pointer that must be null", TEST_ASSERT_NULL("text"))
FAILS("a null pointer", TEST_ASSERT_NOT_NULL(static_cast<const char*>(nullptr)))
FAILS("another int", TEST_ASSERT_EQUAL_INT(3, 4))
FAILS("another unsigned int", TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, 0u))
FAILS("another text", TEST_ASSERT_EQUAL_STRING("text", std::string("test")))
FAILS("other memory", TEST_ASSERT_EQUAL_MEMORY("abc", "abd", 3))
FAILS("another float", TEST_ASSERT_EQUAL_FLOAT(1.0f, 1.0001f))
FAILS("NaN where a number is due", TEST_ASSERT_EQUAL_FLOAT(1.0f, NAN))
FAILS("a float too far away", TEST_ASSERT_FLOAT_WITHIN(0.5, 1.0, 1.6))
FAILS("NaN within any bound", TEST_ASSERT_FLOAT_WITHIN(0.5, 1.0, NAN))
FAILS("a number that must be NaN", TEST_ASSERT_FLOAT_IS_NAN(1.0f))
FAILS("another array", TEST_ASSERT_EQUAL_FLOAT_ARRAY(kFloats, kOtherFloats, 2))
FAILS("an array too far away", TEST_ASSERT_FLOAT_ARRAY_WITHIN(0.5, kFloats, kOtherFloats, 2))
