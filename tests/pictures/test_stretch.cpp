// SPDX-License-Identifier: Apache-2.0
//
// Maps of numbers at another size, and sides of pictures that keep their ratio.
#include "host/media/stretch.h"

#include "host/base/error.h"
#include "host/media/resample.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;
using mote::testing::contains;
using mote::testing::message_of;

TEST("a map of twice the size has the values that ONNX states for cubic interpolation", "[pictures]") {
  std::vector<float> map;
  for (int i = 1; i <= 16; ++i) map.push_back(static_cast<float>(i));
  Stretch stretch(map, {4, 4}, {8, 8});
  // The operator Resize's example of cubic_coeff_a -0.75, half pixels.
  const float expected[2][8] = {
      {0.47265625f, 0.76953125f, 1.24609375f, 1.875f, 2.28125f, 2.91015625f, 3.38671875f, 3.68359375f},
      {1.66015625f, 1.95703125f, 2.43359375f, 3.0625f, 3.46875f, 4.09765625f, 4.57421875f, 4.87109375f}};
  float row[8];
  for (uint32_t y = 0; y < 2; ++y) {
    stretch.row(y, row);
    for (int x = 0; x < 8; ++x) TEST_ASSERT_FLOAT_WITHIN(1e-5f, expected[y][x], row[x]);
  }
}

TEST("a map of the same size, and one of a single number, keep their values", "[pictures]") {
  const std::vector<float> map = {3, -1, 4, 1, -5, 9};
  Stretch same(map, {2, 3}, {2, 3});
  float row[5];
  for (uint32_t y = 0; y < 2; ++y) {
    same.row(y, row);
    for (uint32_t x = 0; x < 3; ++x) TEST_ASSERT_EQUAL_FLOAT(map[y * 3 + x], row[x]);
  }
  const std::vector<float> single = {3};
  Stretch one(single, {1, 1}, {3, 5});
  one.row(2, row);
  for (const float value : row) TEST_ASSERT_FLOAT_WITHIN(1e-5f, 3.0f, value);
}

TEST("a picture that keeps its ratio is resized by the factor nearer to 1, to multiples", "[pictures]") {
  // Sides of DPT's processor for a size of 518 x 518 and multiples of 14.
  struct Case {
    uint32_t width, height, to_width, to_height;
  };
  for (const Case& one : {Case{640, 480, 686, 518}, Case{480, 640, 518, 686}, Case{518, 518, 518, 518},
                          Case{1, 1, 518, 518}, Case{100, 90, 518, 462}, Case{2000, 1000, 1036, 518}}) {
    CAPTURE(one.width, one.height);
    const Sides made = even_sides({one.height, one.width}, {518, 518}, 14);
    TEST_ASSERT_EQUAL_UINT32(one.to_width, made.width);
    TEST_ASSERT_EQUAL_UINT32(one.to_height, made.height);
    Resampler differs({made, {}, 14, 14, Filter::bicubic, true}, {});
    CHECK(contains(message_of<mote::convert::Error>([&] { differs.begin(one.width, one.height); }),
                   "but the model takes 14 x 14"));
  }
}
