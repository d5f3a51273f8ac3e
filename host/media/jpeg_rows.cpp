// SPDX-License-Identifier: Apache-2.0
//
// JPEG by libjpeg-turbo, with its defaults, which Pillow has too.
#include <cstdio>  // jpeglib.h needs it
//
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <string_view>
#include <vector>

#include "host/base/error.h"
#include "host/media/orientation.h"
#include "host/media/picture_bytes.h"

namespace mote::pictures {
namespace {

/// Encoders make about ten, optimisers of their order a few dozen.
constexpr int kMostScans = 100;

/// The state that libjpeg's calls share; an error of theirs jumps back to `jump` with its text in `message`.
struct Jpeg {
  jpeg_decompress_struct reader = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  bool ended = false;  // the file did, too early
  char message[JMSG_LENGTH_MAX] = "";
  std::jmp_buf jump;

  ~Jpeg() { jpeg_destroy_decompress(&reader); }
};

extern "C" {
[[noreturn]] static void on_jpeg_error(j_common_ptr reader) {
  auto* jpeg = static_cast<Jpeg*>(reader->client_data);
  reader->err->format_message(reader, jpeg->message);
  std::longjmp(jpeg->jump, 1);
}
static void on_jpeg_message(j_common_ptr reader, int level) {
  auto* jpeg = static_cast<Jpeg*>(reader->client_data);
  if (level < 0 && reader->err->msg_code == JWRN_JPEG_EOF) jpeg->ended = true;
}
/// libjpeg has no limit of its own, and a scan of a few bytes may go over the whole picture.
static void on_jpeg_progress(j_common_ptr reader) {
  auto* jpeg = static_cast<Jpeg*>(reader->client_data);
  if (jpeg->reader.input_scan_number <= kMostScans) return;
  std::snprintf(jpeg->message, sizeof jpeg->message, "it has more than %d scans", kMostScans);
  std::longjmp(jpeg->jump, 1);
}
}

// Each of these has no objects to destroy where an error jumps out of libjpeg. False: there was one.

bool read_header(Jpeg* jpeg, const std::byte* data, size_t bytes) {
  jpeg->reader.err = jpeg_std_error(&jpeg->errors);
  jpeg->errors.error_exit = on_jpeg_error;
  jpeg->errors.emit_message = on_jpeg_message;
  jpeg->reader.client_data = jpeg;
  if (setjmp(jpeg->jump) != 0) return false;
  jpeg_create_decompress(&jpeg->reader);
  jpeg->reader.client_data = jpeg;
  jpeg_mem_src(&jpeg->reader, reinterpret_cast<const unsigned char*>(data),
               static_cast<unsigned long>(bytes));
  jpeg_read_header(&jpeg->reader, TRUE);
  return true;
}

bool begin_rows(Jpeg* jpeg) {
  if (setjmp(jpeg->jump) != 0) return false;
  const bool has_inks =
      jpeg->reader.jpeg_color_space == JCS_CMYK || jpeg->reader.jpeg_color_space == JCS_YCCK;
  jpeg->reader.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
  jpeg->progress.progress_monitor = on_jpeg_progress;
  jpeg->reader.progress = &jpeg->progress;
  jpeg_start_decompress(&jpeg->reader);
  return jpeg->reader.output_components == (has_inks ? 4 : static_cast<int>(kColours));
}

bool read_row(Jpeg* jpeg, uint8_t* row) {
  if (setjmp(jpeg->jump) != 0) return false;
  return jpeg_read_scanlines(&jpeg->reader, &row, 1) == 1;
}

/// Calls f(data) for each APP1 marker before the picture. libjpeg, which can keep them, goes through all that
/// it has at each one.
template <class F>
void each_app1(std::span<const uint8_t> file, const F& f) {
  constexpr uint8_t kApp1 = JPEG_APP0 + 1, kStartOfScan = 0xDA;
  const auto has_no_length = [](uint8_t marker) { return marker == 1 || (marker >= 0xD0 && marker <= 0xD8); };
  for (size_t at = 0; at < file.size();) {
    if (file[at++] != 0xFF) continue;
    while (at < file.size() && file[at] == 0xFF) ++at;
    if (at == file.size() || file[at] == JPEG_EOI || file[at] == kStartOfScan) return;
    const uint8_t marker = file[at++];
    if (marker == 0 || has_no_length(marker)) continue;
    if (file.size() - at < 2) return;
    const size_t length = std::max<size_t>(size_t{file[at]} << 8 | file[at + 1], 2);
    if (file.size() - at < length) return;
    if (marker == kApp1) f(file.subspan(at + 2, length - 2));
    at += length;
  }
}

/// Returns the part behind `mark` in a marker's data; empty: the data do not begin with the mark.
std::span<const uint8_t> behind(std::span<const uint8_t> data, std::string_view mark) {
  if (data.size() < mark.size() || !std::equal(mark.begin(), mark.end(), data.begin())) return {};
  return data.subspan(mark.size());
}

/// EXIF data may be in several markers, of XMP the last counts.
Orientation jpeg_orientation(std::span<const std::byte> file) {
  using namespace std::string_view_literals;
  Orientation orientation;
  std::vector<uint8_t> exif;
  each_app1({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, [&](std::span<const uint8_t> data) {
    const auto part = behind(data, "Exif\0\0"sv);
    exif.insert(exif.end(), part.begin(), part.end());
    const auto xmp = behind(data, "http://ns.adobe.com/xap/1.0/\0"sv);
    if (!xmp.empty())
      orientation.xmp = xmp_orientation({reinterpret_cast<const char*>(xmp.data()), xmp.size()});
  });
  orientation.exif = exif_orientation(exif);
  return orientation;
}

/// Makes colours of a row of inks in its place. Writers store them inverted, as Adobe's do, and Pillow takes
/// all for such.
void make_colours(std::vector<uint8_t>& row) {
  for (size_t from = 0, to = 0; from < row.size(); from += 4, to += kColours) {
    uint8_t inks[4];
    for (size_t i = 0; i < std::size(inks); ++i) inks[i] = static_cast<uint8_t>(255 - row[from + i]);
    colours_of_inks(inks, &row[to]);
  }
}

[[noreturn]] void fail_jpeg(const Jpeg& jpeg) {
  convert::fail("the JPEG is damaged: {}", jpeg.message[0] == 0 ? "the file ends too early" : jpeg.message);
}

}  // namespace

void read_jpeg(std::span<const std::byte> file, const Limits& limits, RowSink& sink) {
  Jpeg jpeg;
  if (!read_header(&jpeg, file.data(), file.size())) fail_jpeg(jpeg);
  const uint32_t width = jpeg.reader.image_width, height = jpeg.reader.image_height;
  const uint64_t pixels = uint64_t{width} * height;
  // Where a picture is in several scans, the coefficients of all of it are kept, 2 bytes each.
  const bool scans = jpeg_has_multiple_scans(&jpeg.reader) != 0;
  if (pixels > limits.pixels || (scans && pixels * 2 * kColours > limits.bytes))
    convert::fail("a JPEG of {} x {} pixels{} is too large", width, height, scans ? ", progressive," : "");
  const Turn turn = jpeg_orientation(file).turn();
  if (!begin_rows(&jpeg)) fail_jpeg(jpeg);
  begin_file(sink, width, height, turn);
  const auto components = static_cast<size_t>(jpeg.reader.output_components);
  std::vector<uint8_t> row(size_t{width} * components);
  for (uint32_t y = 0; y < height; ++y) {
    if (!read_row(&jpeg, row.data()) || jpeg.ended) fail_jpeg(jpeg);
    if (components != kColours) make_colours(row);
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
