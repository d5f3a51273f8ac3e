// SPDX-License-Identifier: Apache-2.0
//
// Expected sides are those of transformers' processors.
#include "host/media/sides.h"

#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;
using mote::testing::contains;
using mote::testing::message_of;

TEST("sides become multiples of a unit between a least and a most number of pixels", "[pictures]") {
  struct Case {
    uint32_t height, width, rows, columns, coarse_rows, coarse_columns;
  };
  const Case cases[] = {{1, 1, 256, 256, 56, 56},          {100, 100, 256, 256, 112, 112},
                        {480, 640, 480, 640, 476, 644},    {1080, 1920, 1088, 1920, 728, 1316},
                        {33, 6000, 32, 6016, 28, 5992},    {47, 61, 256, 320, 56, 56},
                        {48, 80, 224, 352, 56, 84},        {16, 40, 192, 416, 56, 112},
                        {5000, 5000, 4096, 4096, 980, 980}};
  for (const Case& one : cases) {
    CAPTURE(one.height, one.width);
    const Sides fine = rounded_sides({one.height, one.width}, 32, 65536, 16777216, 200),
                coarse = rounded_sides({one.height, one.width}, 28, 3136, 1003520, 200);
    TEST_ASSERT_EQUAL_UINT32(one.rows, fine.height);
    TEST_ASSERT_EQUAL_UINT32(one.columns, fine.width);
    TEST_ASSERT_EQUAL_UINT32(one.coarse_rows, coarse.height);
    TEST_ASSERT_EQUAL_UINT32(one.coarse_columns, coarse.width);
  }
  TEST_ASSERT_TRUE(contains(message_of<mote::convert::Error>([] {
                              rounded_sides({1, 201}, 32, 65536, 1 << 20, 200);
                            }),
                            "more than 200 times"));
}

TEST("the longer side becomes the longest, and both multiples of a tile", "[pictures]") {
  struct Case {
    uint32_t height, width, longest, tile;
    Sides first, second;
  };
  const Case cases[] = {
      {1, 1, 2048, 512, {2048, 2048}, {2048, 2048}},       {480, 640, 2048, 512, {1536, 2048}, {1536, 2048}},
      {1080, 1920, 2048, 512, {1152, 2048}, {1536, 2048}}, {3, 6000, 2048, 512, {2, 2048}, {512, 2048}},
      {6000, 3, 2048, 512, {2048, 2}, {2048, 512}},        {61, 47, 2048, 512, {2048, 1578}, {2048, 2048}},
      {3, 6000, 1456, 364, {1, 1456}, {364, 1456}},        {1080, 1920, 1456, 364, {820, 1456}, {1092, 1456}},
      {777, 333, 1456, 364, {1456, 624}, {1456, 728}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.height, one.width, one.longest);
    const Sides first = longest_sides({one.height, one.width}, one.longest, 4096);
    const Sides second = tiled_sides(first, one.tile);
    TEST_ASSERT_EQUAL_UINT32(one.first.height, first.height);
    TEST_ASSERT_EQUAL_UINT32(one.first.width, first.width);
    TEST_ASSERT_EQUAL_UINT32(one.second.height, second.height);
    TEST_ASSERT_EQUAL_UINT32(one.second.width, second.width);
  }
}

TEST("the shorter side becomes so long, and the longer keeps the ratio, rounded down", "[pictures]") {
  struct Case {
    Sides own;
    uint32_t shorter;
    Sides made;
  };
  const Case cases[] = {{{47, 61}, 24, {24, 31}},      {{61, 47}, 24, {31, 24}},
                        {{9, 9}, 224, {224, 224}},     {{1, 3}, 2, {2, 6}},
                        {{480, 640}, 224, {224, 298}}, {{1, UINT32_MAX}, 9, {9, UINT32_MAX}}};
  for (const Case& one : cases) {
    CAPTURE(one.own.height, one.own.width);
    const Sides made = shorter_sides(one.own, one.shorter);
    TEST_ASSERT_EQUAL_UINT32(one.made.height, made.height);
    TEST_ASSERT_EQUAL_UINT32(one.made.width, made.width);
  }
}

TEST("both sides become multiples by the factor that changes them less", "[pictures]") {
  struct Case {
    Sides own, wanted;
    uint32_t unit;
    Sides made;
  };
  const Case cases[] = {{{47, 61}, {24, 24}, 6, {24, 30}},
                        {{480, 640}, {518, 518}, 14, {518, 686}},
                        {{1080, 1920}, {518, 518}, 14, {518, 924}},
                        {{1, 100}, {8, 8}, 8, {8, 8}}};
  for (const Case& one : cases) {
    CAPTURE(one.own.height, one.own.width);
    const Sides made = even_sides(one.own, one.wanted, one.unit);
    TEST_ASSERT_EQUAL_UINT32(one.made.height, made.height);
    TEST_ASSERT_EQUAL_UINT32(one.made.width, made.width);
  }
}

TEST("the shorter side becomes the shortest unless the longer would be too long, in whole units",
     "[pictures]") {
  struct Case {
    uint32_t height, width, shortest, longest, rows, columns;
  };
  const Case cases[] = {{480, 640, 800, 1333, 800, 1056},
                        {640, 480, 800, 1333, 1056, 800},
                        {1080, 1920, 800, 1333, 736, 1328},
                        {1920, 1080, 800, 1333, 1328, 736},
                        {800, 1000, 800, 1333, 800, 992},
                        {100, 100, 512, 1333, 512, 512},
                        {47, 61, 48, 100, 48, 48},
                        {333, 1000, 512, 700, 224, 688},
                        {1, 20000, 800, 1333, 0, 1328},
                        {426, 640, 512, 1333, 512, 768},
                        {750, 1333, 800, 1333, 736, 1328},
                        {800, 800, 800, 700, 688, 688},
                        {31, 47, 33, 49, 32, 48}};
  for (const Case& one : cases) {
    CAPTURE(one.height, one.width);
    const Sides sides = bounded_sides({one.height, one.width}, one.shortest, one.longest, 16);
    TEST_ASSERT_EQUAL_UINT32(one.rows, sides.height);
    TEST_ASSERT_EQUAL_UINT32(one.columns, sides.width);
  }
}

TEST("pictures become the most patches that the original's search finds for them", "[pictures]") {
  struct Case {
    uint32_t height, width, patch, most, rows, columns;
  };
  // get_image_size_for_max_num_patches of transformers 5.24 (SigLIP 2).
  const Case cases[] = {{480, 640, 16, 256, 224, 288},   {47, 61, 6, 16, 24, 24},
                        {1, 5000, 16, 256, 16, 4096},    {3000, 2, 16, 256, 4096, 16},
                        {224, 224, 16, 256, 256, 256},   {61, 47, 6, 20, 30, 24},
                        {1080, 1920, 14, 729, 280, 504}, {7, 9, 16, 1, 16, 16}};
  for (const Case& one : cases) {
    CAPTURE(one.height, one.width);
    const Sides sides = patched_sides({one.height, one.width}, one.patch, one.most);
    TEST_ASSERT_EQUAL_UINT32(one.rows, sides.height);
    TEST_ASSERT_EQUAL_UINT32(one.columns, sides.width);
  }
}
