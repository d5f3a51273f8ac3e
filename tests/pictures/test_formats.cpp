// SPDX-License-Identifier: Apache-2.0
//
// Pictures of each format and kind against the pixels that Pillow makes of them
// (scripts/make_written_picture_formats), and what hostile ones cost.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "host/base/error.h"
#include "host/media/rows.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;
using namespace mote::testing;

namespace {

const std::string kFormatsFolder = std::string(MOTE_SOURCE_DIR) + "/tests/written/picture_formats/";

/// Keeps a picture as it is seen.
class KeptPicture : public RowSink {
 public:
  using RowSink::begin;
  void begin(uint32_t width, uint32_t height, Turn turn) override {
    width_ = width;
    height_ = height;
    turn_ = turn;
    pixels_.assign(size_t{width} * height * kColours, 0);
  }
  void row(const uint8_t* pixels) override {
    const uint32_t across = turn_.swaps ? height_ : width_;
    for (uint32_t i = 0; i < across; ++i) {
      uint32_t x = turn_.swaps ? rows_ : i, y = turn_.swaps ? i : rows_;
      if (turn_.from_right) x = width_ - 1 - x;
      if (turn_.from_below) y = height_ - 1 - y;
      std::copy_n(pixels + size_t{i} * kColours, kColours, &pixels_.at((size_t{y} * width_ + x) * kColours));
    }
    ++rows_;
  }

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  uint32_t rows() const { return rows_; }
  const std::vector<uint8_t>& pixels() const { return pixels_; }

 private:
  uint32_t width_ = 0, height_ = 0, rows_ = 0;
  Turn turn_;
  std::vector<uint8_t> pixels_;
};

/// Returns what a file is refused with, empty where it is read.
std::string refusal_of_file(const std::string& file, const Limits& limits = {}) {
  KeptPicture picture;
  return message_of<mote::convert::Error>([&] { read_rows(as_bytes(file), limits, picture); });
}

std::string hash_of_pixels(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

void check_pixels(const KeptPicture& picture, const nlohmann::json& expected, bool is_lossy) {
  REQUIRE(picture.width() == expected.at("width").get<uint32_t>());
  REQUIRE(picture.height() == expected.at("height").get<uint32_t>());
  const std::string text = expected.at("pixels").get<std::string>();
  if (!is_lossy) {
    CHECK(hash_of_pixels(picture.pixels()) == text);
    return;
  }
  // Decoders of JPEG may differ by a rounding; so may the inks' colours by two of them.
  REQUIRE(text.size() == 2 * picture.pixels().size());
  int most = 0;
  for (size_t i = 0; i < picture.pixels().size(); ++i)
    most = std::max(most, std::abs(std::stoi(text.substr(2 * i, 2), nullptr, 16) - picture.pixels()[i]));
  CHECK(most <= 2);
}

nlohmann::json written_formats() {
  return nlohmann::json::parse(read_text(kFormatsFolder + "expected.json")).at("files");
}

/// Kinds that Pillow reads and mote does not, with what names each.
const std::vector<std::pair<std::string, std::string>> kRefusedKinds = {
    {"lab.tif", "such colours"},
    {"bits12.tif", "such grey"},
    {"two_of_8_bits.bmp", "a palette of greys"},
};

}  // namespace

TEST("pictures of every format and kind become the pixels that Pillow makes", "[formats]") {
  const nlohmann::json files = written_formats();
  size_t read = 0;
  for (const auto& [name, expected] : files.items()) {
    if (expected.is_null() || std::any_of(kRefusedKinds.begin(), kRefusedKinds.end(),
                                          [&, name = name](const auto& one) { return one.first == name; }))
      continue;
    CAPTURE(name);
    KeptPicture picture;
    const std::string file = read_text(kFormatsFolder + name);
    const std::string refusal =
        message_of<mote::convert::Error>([&] { read_rows(as_bytes(file), {}, picture); });
    CHECK(refusal == "");
    if (!refusal.empty()) continue;
    check_pixels(picture, expected, name.find("lossy") != std::string::npos);
    ++read;
  }
  TEST_ASSERT_GREATER_THAN(120u, read);
}

TEST("pictures that Pillow refuses are refused", "[formats]") {
  const nlohmann::json files = written_formats();
  size_t refused = 0;
  for (const auto& [name, expected] : files.items()) {
    if (!expected.is_null()) continue;
    CAPTURE(name);
    CHECK(refusal_of_file(read_text(kFormatsFolder + name)) != "");
    ++refused;
  }
  TEST_ASSERT_GREATER_THAN(5u, refused);
}

TEST("kinds that mote does not read are refused by their names", "[formats]") {
  for (const auto& [name, what] : kRefusedKinds) {
    CAPTURE(name);
    CHECK(contains(refusal_of_file(read_text(kFormatsFolder + name)), what));
  }
  CHECK(contains(refusal_of_file("P7\nWIDTH 1\n"), "no picture of a kind that mote reads"));
  CHECK(contains(refusal_of_file("Pf\n1 1\n-1\n0000"), "no picture of a kind"));
  CHECK(contains(refusal_of_file("RIFF....WAVEfmt "), "no picture of a kind"));
}

TEST("pictures cut off at any byte give a refusal or the whole picture", "[formats]") {
  for (const char* name :
       {"global.gif", "placed_interlaced.gif", "packed8.bmp", "packed4.bmp", "palette8.bmp", "masks32_3.bmp",
        "p3.ppm", "p6_wide.ppm", "p1.pbm", "lossless.webp", "alpha_lossy.webp", "placed.webp", "lzw.tif",
        "tiles_deflate.tif", "planes_deflate.tif", "group4.tif", "jpeg_lossy.tif", "big.tif",
        "inks_lossy.jpg"}) {
    const std::string file = read_text(kFormatsFolder + name);
    KeptPicture whole;
    read_rows(as_bytes(file), {}, whole);
    for (size_t bytes = 0; bytes < file.size(); ++bytes) {
      KeptPicture part;
      const std::string cut = file.substr(0, bytes);
      const std::string refusal =
          message_of<mote::convert::Error>([&] { read_rows(as_bytes(cut), {}, part); });
      if (!refusal.empty()) continue;
      CAPTURE(name, bytes);
      REQUIRE(part.rows() == (whole.rows()));
    }
    CAPTURE(name);
    CHECK(refusal_of_file(file.substr(0, file.size() / 2)) != "");
  }
}

TEST("pictures with damaged bytes end in a refusal or in pixels, never beyond their sides", "[formats]") {
  const nlohmann::json files = written_formats();
  uint32_t state = 7;
  const auto random = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  const Limits limits{1 << 20, 8 << 20};
  std::set<std::string> ends;
  for (const auto& [name, expected] : files.items()) {
    const std::string whole = read_text(kFormatsFolder + name);
    for (int turn = 0; turn < 60; ++turn) {
      std::string file = whole;
      for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
        // Headers are small, so half of the flips are among the first bytes.
        const size_t range = random() % 2 == 0 ? std::min<size_t>(file.size(), 64) : file.size();
        file[random() % range] = static_cast<char>(random());
      }
      CAPTURE(name, turn);
      ends.insert(refusal_of_file(file, limits));
    }
  }
  TEST_ASSERT_GREATER_THAN(20u, ends.size());
}

TEST("few bytes that say to be a large picture are refused before their memory is taken", "[formats]") {
  const auto little = [](uint32_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const std::string gif = "GIF89a" + little(40000, 2) + little(40000, 2) + std::string(3, '\0');
  CHECK(contains(refusal_of_file(gif + "," + little(0, 4) + little(1, 2) + little(1, 2) + "\0"), "GIF"));
  CHECK(contains(refusal_of_file(gif + "," + little(0, 4) + little(0, 2) + little(9, 2) + "\0"), "GIF"));
  const std::string bmp = "BM" + std::string(8, '\0') + little(0, 4) + little(40, 4) + little(30000, 4) +
                          little(30000, 4) + little(1, 2) + little(8, 2) + little(1, 4) +
                          std::string(20, '\0') + std::string(1024, '\x50');
  CHECK(contains(refusal_of_file(bmp + std::string(4, '\1')), "30000 x 30000 pixels is too large"));
  CHECK(contains(refusal_of_file("P6 4000000 4000000 255\n"), "too large"));
  CHECK(contains(refusal_of_file("P1 40000 40000\n"), "too large"));
  CHECK(contains(refusal_of_file("P5 0 5 255\n"), "no pixels"));
  for (const char* name : {"p6.ppm", "global.gif", "rgb.bmp", "lzw.tif", "lossless.webp"}) {
    CAPTURE(name);
    CHECK(contains(refusal_of_file(read_text(kFormatsFolder + name), {100, 1 << 20}), "too large"));
  }
  for (const char* name : {"interlaced.gif", "packed8.bmp", "lossless.webp"}) {
    CAPTURE(name);
    CHECK(contains(refusal_of_file(read_text(kFormatsFolder + name), {1 << 20, 100}), "too large"));
  }
  CHECK(contains(refusal_of_file(read_text(kFormatsFolder + "planes.tif"), {1 << 20, 700}), "too large: all"));
}
