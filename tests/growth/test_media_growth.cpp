// SPDX-License-Identifier: Apache-2.0
//
// What reading pictures and sounds costs grows at most as their files do. The work within libpng,
// libjpeg-turbo, libwebp, libtiff and libsndfile is not counted, but what these ask of mote is.
#include <fmt/format.h>
#include <zlib.h>

#include <bit>

#include "host/base/error.h"
#include "host/media/orientation.h"
#include "host/media/rows.h"
#include "host/media/sound_file.h"
#include "tests/support/checkpoint.h"
#include "tests/support/count_blocks.h"
#include "tests/support/files.h"

namespace {

using namespace mote::pictures;
using mote::cli::open_sound;
using mote::cli::SoundSource;
using mote::testing::as_bytes;
using test::check_growth;
using test::little;

std::string big(uint64_t value, size_t bytes) {
  const std::string text = little(value, bytes);
  return {text.rbegin(), text.rend()};
}

class CountedRows : public RowSink {
 public:
  using RowSink::begin;
  void begin(uint32_t, uint32_t, Turn) override {}
  void row(const uint8_t* pixels) override { sum_ += pixels[0]; }

 private:
  uint64_t sum_ = 0;
};

void read_picture(const std::string& file) {
  CountedRows rows;
  read_rows(as_bytes(file), {}, rows);
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(data.size(), 4) + body + big(sum, 4);
}

/// A PNG of one grey column, with chunks before its rows, which are in `parts` chunks.
std::string png_of(uint32_t rows, const std::string& chunks, size_t parts = 1) {
  const std::string plain(2 * size_t{rows}, '\0');
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
            static_cast<uLong>(plain.size()), 0);
  packed.resize(size);
  std::string file =
      "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", big(1, 4) + big(rows, 4) + big(0x08, 1) + big(0, 4));
  file += chunks;
  const size_t step = packed.size() / parts + 1;
  for (size_t at = 0; at < packed.size(); at += step) file += png_chunk("IDAT", packed.substr(at, step));
  return file + png_chunk("IEND", "");
}

std::string repeated(uint64_t n, const std::string& part) {
  std::string text;
  for (uint64_t i = 0; i < n; ++i) text += part;
  return text;
}

/// EXIF data of n orientations.
std::string exif_of(uint64_t n) {
  return std::string("II*\0\x08\0\0\0", 8) + little(n, 2) +
         repeated(n, little(0x112, 2) + little(3, 2) + little(1, 4) + little(6, 4));
}

/// A photo with APP1 markers of these data behind its start.
std::string jpeg_of(const std::string& markers) {
  const std::string photo =
      mote::testing::read_text(std::string(MOTE_SOURCE_DIR) + "/tests/pictures/files/photo.jpg");
  return photo.substr(0, 2) + markers + photo.substr(2);
}

std::string app1(const std::string& data) { return "\xFF\xE1" + big(data.size() + 2, 2) + data; }

}  // namespace

TEST("the work for a PNG grows as its rows and its chunks do") {
  check_growth(
      200, [](uint64_t n) { return png_of(static_cast<uint32_t>(n), ""); }, read_picture);
  check_growth(
      200, [](uint64_t n) { return png_of(static_cast<uint32_t>(n), "", n / 4); }, read_picture);
  using namespace std::string_literals;
  for (const std::string& data :
       {"key\0text"s, "XML:com.adobe.xmp\0tiff:Orientation=\"\" tiff:Orientation=\"6\""s,
        "Raw profile type exif\0\n\n\n4949"s})
    check_growth(
        200, [&](uint64_t n) { return png_of(1, repeated(n, png_chunk("tEXt", data))); }, read_picture);
  check_growth(
      200, [&](uint64_t n) { return png_of(1, repeated(n, png_chunk("eXIf", exif_of(2)))); }, read_picture);
  check_growth(
      4,
      [&](uint64_t n) {
        return png_of(1, repeated(n, png_chunk("zTXt", "Raw profile type exif\0\0damaged"s)));
      },
      read_picture);
}

TEST("the work for a JPEG grows as its markers do") {
  using namespace std::string_literals;
  for (const std::string& data :
       {""s, "Exif\0\0II*\0"s, "http://ns.adobe.com/xap/1.0/\0tiff:Orientation=\"6\""s})
    check_growth(
        200, [&](uint64_t n) { return jpeg_of(repeated(n, app1(data))); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return jpeg_of(app1("Exif\0\0"s + exif_of(n))); }, read_picture);
}

TEST("the work for a GIF grows as its rows and its comments do") {
  const auto gif_of = [](uint64_t rows, const std::string& blocks) {
    std::string codes;  // of 8 bits: to begin anew, and the number of a colour
    for (uint64_t at = 0; at < rows; at += 100) {
      const uint64_t count = std::min<uint64_t>(100, rows - at);
      codes += little(2 * count, 1) + repeated(count, "\x80\x05");
    }
    return "GIF89a" + little(1, 2) + little(rows, 2) + little(0, 3) + blocks + "," + little(0, 4) +
           little(1, 2) + little(rows, 2) + little(0, 1) + little(7, 1) + codes + little(0, 1) + ";";
  };
  check_growth(
      500, [&](uint64_t n) { return gif_of(n, ""); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return gif_of(1, repeated(n, "!\xFE\x01x" + little(0, 1))); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return gif_of(1, "!\xFE" + repeated(n, "\x01x") + little(0, 1)); },
      read_picture);
}

TEST("the work for a BMP grows as its rows and its runs do") {
  const auto bmp_of = [](uint64_t height, uint64_t bits, uint64_t compression, const std::string& rows) {
    const std::string palette = bits == 8 ? repeated(256, "abc" + little(0, 1)) : "";
    return "BM" + little(0, 8) + little(54 + palette.size(), 4) + little(40, 4) + little(1, 4) +
           little(height, 4) + little(1, 2) + little(bits, 2) + little(compression, 4) + little(0, 20) +
           palette + rows;
  };
  check_growth(
      500, [&](uint64_t n) { return bmp_of(n, 24, 0, repeated(n, "abcd")); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return bmp_of(n, 8, 1, repeated(n, "\x01z" + little(0, 2))); }, read_picture);
  check_growth(
      500,
      [&](uint64_t n) {  // skips of nothing before the only pixel
        return bmp_of(1, 8, 1, repeated(n, little(0x200, 2) + little(0, 2)) + "\x01z");
      },
      read_picture);
}

TEST("the work for a PNM grows as its digits, its bytes and its comments do") {
  const auto head = [](const char* kind, uint64_t rows) { return fmt::format("{} 1 {}\n", kind, rows); };
  check_growth(
      500, [&](uint64_t n) { return head("P1", n) + repeated(n, "1"); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return head("P3", n) + "255\n" + repeated(n, "1 22 255\n"); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return head("P6", n) + "65535\n" + repeated(n, "abcdef"); }, read_picture);
  check_growth(
      500, [&](uint64_t n) { return "P2 " + repeated(n, "#\n") + "1 1 255" + repeated(n, "\n#") + "\n9"; },
      read_picture);
}

TEST("the work for a TIFF grows as its strips and its other tags do") {
  const auto tiff_of = [](uint64_t strips, uint64_t others) {
    const auto tag = [](uint64_t name, uint64_t type, uint64_t count, uint64_t value) {
      return little(name, 2) + little(type, 2) + little(count, 4) + little(value, 4);
    };
    const uint64_t tags = 9 + others, behind = 8 + 2 + 12 * tags + 4, sizes = behind + 4 * strips,
                   rows = sizes + 4 * strips;
    std::string file = "II*" + little(0, 1) + little(8, 4) + little(tags, 2);
    file += tag(256, 4, 1, 1) + tag(257, 4, 1, strips) + tag(258, 3, 1, 8) + tag(259, 3, 1, 1) +
            tag(262, 3, 1, 1);
    file += tag(273, 4, strips, strips == 1 ? rows : behind) + tag(277, 3, 1, 1) + tag(278, 4, 1, 1);
    file += tag(279, 4, strips, strips == 1 ? 1 : sizes);
    for (uint64_t i = 0; i < others; ++i) file += tag(40000 + i, 3, 1, 1);
    file += little(0, 4);
    for (uint64_t i = 0; i < strips; ++i) file += little(rows + i, 4);
    return file + repeated(strips, little(1, 4)) + std::string(strips, 'x');
  };
  check_growth(
      500, [&](uint64_t n) { return tiff_of(n, 0); }, read_picture);
  check_growth(
      200, [&](uint64_t n) { return tiff_of(1, n); }, read_picture);
}

TEST("the work for how a picture lies grows as its metadata do") {
  check_growth(
      200, [](uint64_t n) { return exif_of(n); },
      [](const std::string& exif) {
        REQUIRE(exif_orientation({reinterpret_cast<const uint8_t*>(exif.data()), exif.size()}) == 6);
      });
  for (const char* part : {"tiff:Orientation", "tiff:Orientation=\"", "tiff:tiff:Orientation>"})
    check_growth(
        500, [&](uint64_t n) { return repeated(n, part); },
        [](const std::string& text) { REQUIRE(xmp_orientation(text) == 0); });
}

#ifdef MOTE_HAS_SNDFILE

namespace {

/// Reads a sound to its end, at the rate of speech models.
void read_sound(const std::string& file) {
  const std::unique_ptr<SoundSource> source = open_sound(as_bytes(file));
  mote::cli::Resampler resampled(*source, 16000);
  std::vector<float> samples(1000);
  while (resampled.read(samples) != 0) {
  }
  REQUIRE(source->damage().empty());
}

std::string wav_of(uint64_t samples, const std::string& chunks, uint32_t rate = 44100) {
  const std::string format =
      little(1, 2) + little(1, 2) + little(rate, 4) + little(2 * rate, 4) + little(2, 2) + little(16, 2);
  const std::string body = "WAVEfmt " + little(16, 4) + format + chunks + "data" + little(2 * samples, 4);
  return "RIFF" + little(body.size() + 2 * samples, 4) + body + std::string(2 * samples, '\1');
}

std::string caf_of(const std::string& chunks) {
  const double rate = 44100;
  const auto bits = std::bit_cast<uint64_t>(rate);
  const std::string format =
      big(bits, 8) + "lpcm" + big(0, 4) + big(2, 4) + big(1, 4) + big(1, 4) + big(16, 4);
  return "caff" + big(1, 2) + big(0, 2) + "desc" + big(32, 8) + format + chunks + "data" + big(4 + 2000, 8) +
         big(0, 4) + std::string(2000, '\1');
}

}  // namespace

TEST("the work for a sound grows as its samples do, whatever rate they have") {
  for (const uint32_t rate : {16000, 44100, 8000})
    check_growth(
        20'000, [&](uint64_t n) { return wav_of(n, "", rate); }, read_sound);
}

TEST("the work for a sound grows as its chunks do") {
  const std::string list = "INFOINAM" + little(4, 4) + "name";
  for (const std::string& chunk : {"JUNK" + little(4, 4) + "text", "LIST" + little(list.size(), 4) + list})
    check_growth(
        200, [&](uint64_t n) { return wav_of(1000, repeated(n, chunk)); }, read_sound);
  check_growth(
      200, [&](uint64_t n) { return caf_of(repeated(n, "free" + big(4, 8) + "text")); }, read_sound);
}

#endif
