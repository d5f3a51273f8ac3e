// SPDX-License-Identifier: Apache-2.0
//
// Pictures that lie turned in their files, against Pillow
// (scripts/make_written_pictures), and what they cost.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/media/orientation.h"
#include "host/media/resample.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;
using namespace mote::testing;

namespace {

constexpr uint32_t kSide = 24;

std::vector<uint8_t> resampled_turned(const std::string& name) {
  const std::string text = read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/pictures/" + name);
  Resampler resampler({kSide, kSide, 0, 0, kSide, kSide, Filter::bicubic}, {});
  read_rows(std::as_bytes(std::span(text)), {}, resampler);
  return resampler.result();
}

std::string hexadecimal_hash(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

/// The bytes of a picture, [height, width, 3].
std::vector<uint8_t> noisy(uint32_t width, uint32_t height) {
  std::vector<uint8_t> pixels(size_t{width} * height * kColours);
  uint32_t state = 3;
  for (uint8_t& value : pixels) value = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return pixels;
}

/// Gives `sink` the picture as a file has it that is to be turned so.
void give_turned(const std::vector<uint8_t>& pixels, uint32_t width, uint32_t height, Turn turn,
                 RowSink& sink) {
  sink.begin(width, height, turn);
  const uint32_t rows = turn.swaps ? width : height, columns = turn.swaps ? height : width;
  std::vector<uint8_t> row(size_t{columns} * kColours);
  for (uint32_t y = 0; y < rows; ++y) {
    for (uint32_t x = 0; x < columns; ++x) {
      uint32_t seen_x = turn.swaps ? y : x, seen_y = turn.swaps ? x : y;
      if (turn.from_right) seen_x = width - 1 - seen_x;
      if (turn.from_below) seen_y = height - 1 - seen_y;
      std::copy_n(&pixels[(size_t{seen_y} * width + seen_x) * kColours], kColours, &row[x * kColours]);
    }
    sink.row(row.data());
  }
}

}  // namespace

TEST(
    "pictures are turned as EXIF in any place of a file says, or else XMP, to "
    "the bytes that Pillow makes",
    "[pictures]") {
  const auto known = nlohmann::json::parse(
      read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/pictures/expected.json"));
  TEST_ASSERT_GREATER_THAN(20u, known.at("files").size());
  for (const auto& [name, expected] : known.at("files").items()) {
    CAPTURE(name);
    const std::vector<uint8_t> bytes = resampled_turned(name);
    const std::string text = expected.get<std::string>();
    if (name.ends_with("png")) {
      CHECK(hexadecimal_hash(bytes) == text);
      continue;
    }
    REQUIRE(text.size() == 2 * bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i)
      REQUIRE(std::abs(std::stoi(text.substr(2 * i, 2), nullptr, 16) - bytes[i]) <= 2);
  }
}

TEST(
    "a turned picture's bytes are those of the same picture upright, of each "
    "filter, size and cut",
    "[pictures]") {
  struct Case {
    uint32_t width, height;
    Shape shape;
  };
  const Case cases[] = {{61, 47, {{24, 20}, {}, 24, 20, Filter::lanczos}},
                        {7, 5, {{30, 40}, {}, 30, 40, Filter::bicubic}},
                        {1, 9, {{13, 11}, {}, 13, 11, Filter::bilinear}},
                        {61, 47, {{24, 31}, {24, 20}, 24, 20, Filter::bicubic}},
                        {31, 33, {{33, 31}, {20, 24}, 20, 24, Filter::bicubic}}};
  for (const Case& one : cases) {
    const std::vector<uint8_t> pixels = noisy(one.width, one.height);
    Resampler upright(one.shape, {});
    give_turned(pixels, one.width, one.height, {}, upright);
    for (uint32_t number = 2; number <= 8; ++number) {
      CAPTURE(one.width, one.shape.height, number);
      Resampler turned(one.shape, {});
      give_turned(pixels, one.width, one.height, Orientation{number}.turn(), turned);
      CHECK(turned.result() == upright.result());
    }
  }
}

TEST(
    "a turned picture of millions of pixels takes memory by one of its sides, "
    "and is refused beyond the limits",
    "[pictures]") {
  const Shape shape{{56, 56}, {}, 56, 56, Filter::bicubic};
  for (uint32_t number = 2; number <= 8; ++number) {
    Resampler resampler(shape, {uint64_t{1} << 30, uint64_t{8} << 20});
    CHECK(message_of<mote::convert::Error>(
              [&] { resampler.begin(20000, 20000, Orientation{number}.turn()); }) == "");
  }
  Resampler resampler(shape, {uint64_t{1} << 30, uint64_t{1} << 20});
  const std::string refusal =
      message_of<mote::convert::Error>([&] { resampler.begin(20000, 20000, Orientation{6}.turn()); });
  CAPTURE(refusal);
  CHECK(contains(refusal, "a turned picture of 20000 x 20000 pixels takes too much memory"));
}

TEST(
    "metadata that are cut off or name no place in themselves leave a picture "
    "upright",
    "[pictures]") {
  const std::array<uint8_t, 26> whole = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                                         0,   1,   0,  0, 0, 6, 0, 0, 0, 0, 0,    0, 0};
  CHECK(exif_orientation(whole) == 6);
  for (size_t bytes = 0; bytes < 22; ++bytes) CHECK(exif_orientation({whole.data(), bytes}) == 0);
  for (const auto& [at, value] :
       {std::pair<size_t, uint8_t>{0, 'J'}, {2, 43}, {4, 200}, {7, 255}, {10, 0}, {14, 0}, {17, 255}}) {
    std::array<uint8_t, 26> other = whole;
    other[at] = value;
    CAPTURE(at);
    CHECK(exif_orientation(other) == 0);
  }
  std::array<uint8_t, 26> other = whole;
  other[12] = 2;  // a text
  CHECK(exif_orientation(other) == 1);
  CHECK(xmp_orientation("tiff:Orientation=\"") == 0);
  CHECK(xmp_orientation("tiff:Orientation='6' tiff:Orientation=\"8\"") == 8);
}

TEST("texts of a PNG that cannot be inflated are counted as those that can", "[pictures]") {
  const auto big = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  std::string text("zTXtRaw profile type exif\0\0damaged", 34);
  std::string png(8, '\0');
  const auto read = [&] {
    return message_of<mote::convert::Error>([&] { png_orientation(std::as_bytes(std::span(png))); });
  };
  const std::string chunk = big(static_cast<uint32_t>(text.size() - 4)) + text + big(0);
  for (int i = 0; i < 60; ++i) png += chunk;
  CHECK(read().empty());
  for (int i = 0; i < 10; ++i) png += chunk;
  CHECK(contains(read(), "texts about how it lies are too large"));
}
