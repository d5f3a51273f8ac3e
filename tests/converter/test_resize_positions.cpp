// SPDX-License-Identifier: Apache-2.0
#include "converter/resize_positions.h"

#include "tests/support/unity_style.h"

using mote::convert::resize_positions;

TEST("positions of another grid are cubic in each direction, with the border repeated", "[pictures]") {
  // By hand: the far weight of a tap at 1.25 is -0.10546875, of one at 1.75 -0.03515625; the near one at 0.75
  // is 0.26171875.
  const float expected[] = {-0.10546875f, 0.2265625f, 0.7734375f, 1.10546875f};
  const std::vector<float> across = resize_positions(std::vector<float>{0, 5, 1, 5}, {1, 2}, {1, 4}, 2);
  const std::vector<float> down = resize_positions(std::vector<float>{0, 1}, {2, 1}, {4, 1}, 1);
  REQUIRE(across.size() == 8);
  REQUIRE(down.size() == 4);
  for (size_t i = 0; i < 4; ++i) {
    TEST_ASSERT_FLOAT_WITHIN(1e-6, expected[i], across[2 * i]);
    TEST_ASSERT_FLOAT_WITHIN(1e-6, 5.0f, across[2 * i + 1]);
    TEST_ASSERT_FLOAT_WITHIN(1e-6, expected[i], down[i]);
  }
}

TEST("positions of the same grid stay as they are", "[pictures]") {
  const std::vector<float> table = {1, -2, 3, 0.5f, 7, 8, -9, 10, 11, 12, 13, 14};
  const std::vector<float> same = resize_positions(table, {2, 3}, {2, 3}, 2);
  REQUIRE(same.size() == table.size());
  for (size_t i = 0; i < table.size(); ++i) TEST_ASSERT_TRUE(same[i] == table[i]);
}
