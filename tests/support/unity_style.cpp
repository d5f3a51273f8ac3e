// SPDX-License-Identifier: Apache-2.0
#include "tests/support/unity_style.h"

namespace unity_style {
namespace {

/// `message` is called if it does not hold.
template <class Message>
void report(bool holds, const Place& place, Message message) {
  Catch::AssertionHandler handler(
      Catch::StringRef(place.macro, strlen(place.macro)), Catch::SourceLineInfo(place.file, place.line),
      Catch::StringRef(place.text, strlen(place.text)), Catch::ResultDisposition::Normal);
  handler.handleMessage(holds ? Catch::ResultWas::Ok : Catch::ResultWas::ExpressionFailed,
                        holds ? std::string() : std::string(message()));
  handler.complete();
}

template <class T>
std::string is_not(const T& expected, const T& actual) {
  return "expected " + Catch::Detail::stringify(expected) + ", is " + Catch::Detail::stringify(actual);
}

}  // namespace

bool equal_float(float expected, float actual) {
  if (isnan(expected) || isnan(actual)) return isnan(expected) && isnan(actual);
  if (isinf(expected) || isinf(actual)) return expected == actual;
  return fabsf(actual - expected) <= fabsf(expected) * 1e-5f;
}

bool within(double delta, double expected, double actual) {
  return expected == actual || fabs(expected - actual) <= delta;
}

void assert_that(bool holds, const Place& place) {
  report(holds, place, [] { return "does not hold"; });
}

void assert_equal(int64_t expected, int64_t actual, const Place& place) {
  report(expected == actual, place, [&] { return is_not(expected, actual); });
}

void assert_equal(uint64_t expected, uint64_t actual, const Place& place) {
  report(expected == actual, place, [&] { return is_not(expected, actual); });
}

void assert_equal(const std::string& expected, const std::string& actual, const Place& place) {
  report(expected == actual, place, [&] { return is_not(expected, actual); });
}

void assert_equal_memory(const void* expected, const void* actual, size_t bytes, const Place& place) {
  assert_no_difference(
      first_difference(bytes, static_cast<const uint8_t*>(expected), static_cast<const uint8_t*>(actual),
                       [](uint8_t e, uint8_t a) { return e == a; }),
      place);
}

void assert_equal_float(float expected, float actual, const Place& place) {
  report(equal_float(expected, actual), place, [&] { return is_not(expected, actual); });
}

void assert_within(double delta, double expected, double actual, const Place& place) {
  report(within(delta, expected, actual), place,
         [&] { return is_not(expected, actual) + ", not within " + Catch::Detail::stringify(delta); });
}

void assert_no_difference(const std::string& difference, const Place& place) {
  report(difference.empty(), place, [&] { return difference; });
}

}  // namespace unity_style
