// SPDX-License-Identifier: Apache-2.0
//
// Pictures of files as pixel values. Expected bytes are Pillow's, as their FNV-1a hash or, of JPEG, whose
// decoders may differ by a rounding, themselves.
#include "host/media/pixel_values.h"

#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "host/base/error.h"
#include "host/media/resample.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::pictures;
using mote::testing::contains;
using mote::testing::message_of;

namespace {

using Bytes = std::vector<std::byte>;

std::filesystem::path file_of(const std::string& name) {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/pictures/files" / name;
}

Bytes bytes_of(const std::string& name) {
  std::ifstream in(file_of(name), std::ios::binary);
  REQUIRE(in.good());
  Bytes bytes(std::filesystem::file_size(file_of(name)));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

uint64_t hash_of(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// A picture of waves and noise, row by row.
void draw(uint32_t width, uint32_t height, RowSink& sink) {
  sink.begin(width, height);
  uint32_t state = 1;
  std::vector<uint8_t> row(size_t{width} * kColours);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t i = 0; i < row.size(); ++i) {
      const uint32_t x = i / 3, colour = i % 3;
      state = state * 1664525 + 1013904223;
      const uint32_t wave = (x * (7 + colour) + y * (5 - colour)) * 3 + (state >> 27);
      row[i] = static_cast<uint8_t>(((x / 9 + y / 7) & 1) != 0 ? wave : state >> 24);
    }
    sink.row(row.data());
  }
}

Shape square_of_24() { return {{24, 24}, {}, 24, 24, Filter::bicubic}; }

std::vector<uint8_t> resampled(const Bytes& file, const Limits& limits = {}) {
  Resampler resampler(square_of_24(), limits);
  read_rows(file, limits, resampler);
  return resampler.result();
}

std::string refusal_of(const Bytes& file, const Limits& limits = {}) {
  return message_of<mote::convert::Error>([&] { resampled(file, limits); });
}

}  // namespace

TEST("pictures become larger and smaller byte for byte as Pillow makes them", "[pictures]") {
  struct Case {
    uint32_t width, height, to_width, to_height;
    Filter filter;
    uint64_t hash;
  };
  const Case cases[] = {
      {61, 47, 24, 24, Filter::bilinear, 0xb9c286bc8d502522},
      {61, 47, 24, 24, Filter::bicubic, 0x67cc7d44ab89efc1},
      {7, 5, 30, 40, Filter::bilinear, 0x949b513d233611f1},
      {7, 5, 30, 40, Filter::bicubic, 0xc7a6346158a470a0},
      {1, 1, 24, 24, Filter::bicubic, 0x4505c3feb303d765},
      {200, 3, 24, 24, Filter::bilinear, 0x3e3baa5f04b85b81},
      {61, 47, 61, 47, Filter::bicubic, 0xd565b28cf6a2c481},
      {640, 480, 56, 56, Filter::bicubic, 0x4ac30f291b7ef40f},
      {61, 47, 24, 24, Filter::lanczos, 0x3c9dee22064858a7},
      {20, 9, 50, 31, Filter::lanczos, 0xa51585ba2d1a2c33},
      {300, 200, 7, 5, Filter::lanczos, 0xf1769cb742014e70},
  };
  for (const Case& one : cases) {
    CAPTURE(one.width, one.height, one.to_width, one.to_height);
    Resampler resampler({one.to_height, one.to_width, 0, 0, one.to_height, one.to_width, one.filter}, {});
    draw(one.width, one.height, resampler);
    CHECK(hash_of(resampler.result()) == one.hash);
  }
}

TEST("the shorter side is resized and the middle is cut out of the longer", "[pictures]") {
  Resampler resampler({shorter_sides({47, 61}, 24), {24, 24}, 24, 24, Filter::bicubic}, {});
  draw(61, 47, resampler);
  CHECK(hash_of(resampler.result()) == 0xb51b0d6c08156033);
}

TEST("PNG of every kind become the bytes that Pillow reads", "[pictures]") {
  const std::pair<const char*, uint64_t> cases[] = {
      {"grid.png", 0x2f41ce6f88fd9df1},  {"palette.png", 0x3f715af4a2c06b56},
      {"alpha.png", 0x2f41ce6f88fd9df1}, {"interlaced.png", 0x2f41ce6f88fd9df1},
      {"grey.png", 0xbcd99e9f1463da12},  {"two.png", 0xed8637c07067485d},
  };
  for (const auto& [name, hash] : cases) {
    CAPTURE(name);
    CHECK(hash_of(resampled(bytes_of(name))) == hash);
  }
}

TEST("JPEG become bytes at most two from those that Pillow reads", "[pictures]") {
  for (const std::string name : {"photo.jpg", "grey.jpg", "progressive.jpg"}) {
    CAPTURE(name);
    const std::vector<uint8_t> bytes = resampled(bytes_of(name));
    const Bytes expected = bytes_of(name == "progressive.jpg" ? "photo.jpg.rgb" : name + ".rgb");
    REQUIRE(bytes.size() == expected.size());
    int most = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      most = std::max(most, std::abs(int{bytes[i]} - std::to_integer<int>(expected[i])));
    TEST_ASSERT_LESS_OR_EQUAL(2, most);
  }
}

TEST("a JPEG of more scans than encoders make is refused, one of some more than usual is read",
     "[pictures]") {
  const Bytes file = bytes_of("progressive.jpg");
  const std::array<std::byte, 2> marker = {std::byte{0xFF}, std::byte{0xDA}};
  const auto last = std::find_end(file.begin(), file.end(), marker.begin(), marker.end());
  REQUIRE(last != file.end());
  const auto with_more = [&](size_t scans) {
    Bytes bytes(file.begin(), file.end() - 2);
    for (size_t i = 0; i < scans; ++i) bytes.insert(bytes.end(), last, file.end() - 2);
    bytes.insert(bytes.end(), file.end() - 2, file.end());
    return bytes;
  };
  CHECK(refusal_of(with_more(20)) == "");
  CHECK(contains(refusal_of(with_more(200)), "more than 100 scans"));
}

TEST("pixel values are bytes scaled, less the mean, by the deviation, colour by colour", "[pictures]") {
  const float mean[] = {0.5f, 0.25f, 0.0f}, deviation[] = {0.5f, 0.25f, 2.0f};
  mote_picture_info info{};
  info.height = info.width = 24;
  info.channels = 3;
  info.step_count = 3;
  info.steps[0] = {MOTE_PICTURE_RESIZE, 3, 24, 24, 1, 0, 0, 0, nullptr, nullptr};
  info.steps[1] = {MOTE_PICTURE_RESCALE, 0, 0, 0, 1, 0, 0, 1.0f / 255, nullptr, nullptr};
  info.steps[2] = {MOTE_PICTURE_NORMALIZE, 0, 0, 0, 1, 0, 0, 0, mean, deviation};
  const Bytes file = bytes_of("grid.png");
  const std::vector<float> values = pixel_values(file, "grid.png", info);
  const std::vector<uint8_t> bytes = resampled(file);
  REQUIRE(values.size() == bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t colour = i % 3;
    const double expected = (bytes[i] / 255.0 - double{mean[colour]}) / double{deviation[colour]};
    CHECK(std::fabs(double{values[colour * 24 * 24 + i / 3]} - expected) < 1e-6);
  }
  info.step_count = 0;
  CHECK(contains(message_of<mote::convert::Error>([&] { pixel_values(file, "grid.png", info); }),
                 "preprocessor_config.json"));
}

TEST("files that end early, at any byte, are refused", "[pictures]") {
  for (const std::string name : {"grid.png", "interlaced.png", "photo.jpg", "progressive.jpg"}) {
    const Bytes file = bytes_of(name);
    for (size_t bytes = 0; bytes + 20 < file.size(); bytes += 1 + bytes / 16) {
      CAPTURE(name, bytes);
      CHECK(refusal_of(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes))) != "");
    }
  }
}

TEST("a file of no known format is refused by the formats that there are", "[pictures]") {
  CHECK(contains(refusal_of(Bytes(64)), "no picture of a kind that mote reads (PNG, JPEG, WebP, GIF"));
}

TEST("a picture beyond the limits is refused before its memory is taken", "[pictures]") {
  CHECK(contains(refusal_of(bytes_of("photo.jpg"), {1000, 1 << 20}), "too large"));
  CHECK(contains(refusal_of(bytes_of("grid.png"), {1000, 1 << 20}), "too large"));
  CHECK(contains(refusal_of(bytes_of("interlaced.png"), {1 << 20, 5000}), "too large"));
  CHECK(contains(refusal_of(bytes_of("progressive.jpg"), {1 << 20, 5000}), "too large"));
  Resampler resampler(square_of_24(), {1 << 30, 1000});
  CHECK(contains(message_of<mote::convert::Error>([&] { resampler.begin(10, 1 << 20); }), "memory"));
}

TEST("a chunk that says to have two gigabytes costs no more than the file has", "[pictures]") {
  const auto most_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  for (const char* kind : {"tEXt", "zTXt", "iTXt", "iCCP", "eXIf", "sPLT", "PLTE", "tRNS", "uNKn"}) {
    const Bytes whole = bytes_of("palette.png");
    Bytes file(whole.begin(), whole.begin() + 33);  // the signature and the header
    for (const int byte : {0x7e, 0, 0, 4}) file.push_back(static_cast<std::byte>(byte));
    for (uint32_t i = 0; i < 4; ++i) file.push_back(static_cast<std::byte>(kind[i]));
    file.insert(file.end(), whole.begin() + 33, whole.end());
    CAPTURE(kind);
    const auto before = most_kilobytes();
    CHECK(refusal_of(file) != "");
    CHECK(most_kilobytes() - before < 100'000);
  }
}
