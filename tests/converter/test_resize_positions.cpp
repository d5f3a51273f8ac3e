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

TEST("positions become fewer and more by the cubic of Keys in both directions", "[pictures]") {
  // As torch.nn.functional.interpolate(mode="bicubic", align_corners=False), computed in doubles.
  struct Case {
    std::vector<float> table;
    mote::convert::PatchGrid from, to;
    std::vector<float> expected;
  };
  std::vector<float> sevenths;
  for (int i = 0; i < 25; ++i) sevenths.push_back(static_cast<float>(i % 7));
  const Case cases[] = {
      {{1, 4, -2, 0, 3, 5, 7, -1, 2},
       {3, 3},
       {2, 4},
       {0.2842540741f, 3.1575679779f, 2.7644977570f, -0.6116847992f, 5.7742424011f, 1.5202445984f,
        0.3667488098f, 3.1450386047f}},
      {sevenths,
       {5, 5},
       {3, 2},
       {2.6265914352f, 2.5127314815f, 3.6679687500f, 4.7460937500f, 1.2731481481f, 2.9386574074f}}};
  for (const Case& one : cases) {
    const std::vector<float> resized = resize_positions(one.table, one.from, one.to, 1);
    TEST_ASSERT_EQUAL_UINT32(one.expected.size(), resized.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(1e-6, one.expected.data(), resized.data(), resized.size());
  }
}
