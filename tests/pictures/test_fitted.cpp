// SPDX-License-Identifier: Apache-2.0
//
// Pictures whose size decides what they become. Expected bytes are Pillow's, as their FNV-1a hash.
#include "host/media/fitted.h"

#include <filesystem>
#include <fstream>

#include "host/media/pixel_values.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;

namespace {

uint64_t fnv(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// Waves and noise.
Raster drawn(uint32_t width, uint32_t height) {
  Raster picture{height, width, {}};
  uint32_t state = 1;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t i = 0; i < width * 3; ++i) {
      const uint32_t x = i / 3, colour = i % 3;
      state = state * 1664525 + 1013904223;
      const uint32_t wave = (x * (7 + colour) + y * (5 - colour)) * 3 + (state >> 27);
      picture.pixels.push_back(static_cast<uint8_t>(((x / 9 + y / 7) & 1) != 0 ? wave : state >> 24));
    }
  }
  return picture;
}

std::vector<std::byte> file_bytes(const std::string& name) {
  const auto path = std::filesystem::path(MOTE_SOURCE_DIR) / "tests/pictures/files" / name;
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// A model of pictures of `patch` x `merge` pixels and more, or of tiles.
mote_picture_info model_of(uint32_t patch, uint32_t merge, uint32_t least, uint32_t most, uint32_t longest,
                           uint32_t tile) {
  static const float mean[] = {0, 0, 0}, deviation[] = {1, 1, 1};
  mote_picture_info info{};
  info.channels = 3;
  info.patch = patch;
  info.merge = merge;
  const auto add = [&](mote_picture_step_kind kind) -> mote_picture_step& {
    mote_picture_step& step = info.steps[info.step_count++];
    step.kind = kind;
    step.filter = kind < MOTE_PICTURE_CROP || kind == MOTE_PICTURE_TILE;
    return step;
  };
  if (tile != 0) {
    mote_picture_step& longer = add(MOTE_PICTURE_RESIZE_LONGER);
    longer.height = longest;
    longer.most = 4096;
    add(MOTE_PICTURE_TILE).height = tile;
  } else {
    mote_picture_step& pixels = add(MOTE_PICTURE_RESIZE_PIXELS);
    pixels.multiple = patch * merge;
    pixels.least = least;
    pixels.most = most;
    pixels.factor = 200;
  }
  add(MOTE_PICTURE_RESCALE).factor = 1.0f;
  mote_picture_step& normalize = add(MOTE_PICTURE_NORMALIZE);
  normalize.mean = mean;
  normalize.deviation = deviation;
  info.height = info.width = tile / patch * patch;
  return info;
}

}  // namespace

TEST("a picture is resized twice as Pillow does it, cut into tiles, and a third time as a whole",
     "[pictures]") {
  const Sides first = longest_sides({47, 61}, 40, 4096);
  const Raster longest = resized_to(drawn(61, 47), first, Filter::lanczos, {});
  const Sides second = tiled_sides(first, 16);
  const Raster tiled = resized_to(longest, second, Filter::lanczos, {});
  TEST_ASSERT_EQUAL_UINT32(48, tiled.height);
  TEST_ASSERT_EQUAL_UINT32(48, tiled.width);
  std::vector<uint8_t> tile;  // the second
  for (uint32_t y = 0; y < 16; ++y) {
    const auto row = tiled.pixels.begin() + (y * 48 + 16) * 3;
    tile.insert(tile.end(), row, row + 48);
  }
  CHECK(fnv(tile) == 0x69bec72c85a3f410);
  CHECK(fnv(resized_to(tiled, {16, 16}, Filter::lanczos, {}).pixels) == 0x1d58cca6191426af);
}

TEST("a file's picture becomes parts of the sizes that the model takes", "[pictures]") {
  const std::vector<std::byte> file = file_bytes("photo.jpg");
  const PictureParts tiles = picture_parts(file, "photo.jpg", model_of(4, 2, 0, 0, 40, 16));
  TEST_ASSERT_EQUAL_UINT32(16, tiles.height);
  TEST_ASSERT_EQUAL_UINT32(tiles.lines * tiles.columns + 1, tiles.values.size());
  TEST_ASSERT_GREATER_OR_EQUAL(2u, tiles.lines * tiles.columns);
  for (const std::vector<float>& values : tiles.values) TEST_ASSERT_EQUAL_UINT32(3 * 16 * 16, values.size());
  const PictureParts rest =
      picture_parts(file, "photo.jpg", model_of(5, 1, 0, 0, 40, 16));  // 3 patches of a tile
  TEST_ASSERT_EQUAL_UINT32(15, rest.height);
  TEST_ASSERT_EQUAL_UINT32(3 * 15 * 15, rest.values.at(0).size());
  TEST_ASSERT_EQUAL_FLOAT(tiles.values.at(1).at(16 + 2), rest.values.at(1).at(15 + 2));
  const PictureParts alone = picture_parts(file, "photo.jpg", model_of(4, 2, 0, 0, 16, 16));
  TEST_ASSERT_EQUAL_UINT32(0, alone.lines);
  TEST_ASSERT_EQUAL_UINT32(1, alone.values.size());
  const PictureParts any = picture_parts(file, "photo.jpg", model_of(4, 2, 256, 1024, 0, 0));
  TEST_ASSERT_EQUAL_UINT32(0, any.height % 8 + any.width % 8);
  TEST_ASSERT_TRUE(any.height * any.width >= 256 && any.height * any.width <= 1024);
  TEST_ASSERT_EQUAL_UINT32(3 * any.height * any.width, any.values.at(0).size());
}
