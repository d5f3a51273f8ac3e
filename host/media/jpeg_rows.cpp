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

namespace mote::pictures {
namespace {

/// Encoders make about ten, optimisers of their order a few dozen.
constexpr int kMostScans = 100;

/// What libjpeg's calls share; an error of theirs jumps back to `jump` with its text in `message`.
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
  jpeg_save_markers(&jpeg->reader, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&jpeg->reader, TRUE);
  return true;
}

bool begin_rows(Jpeg* jpeg) {
  if (setjmp(jpeg->jump) != 0) return false;
  jpeg->reader.out_color_space = JCS_RGB;
  jpeg->progress.progress_monitor = on_jpeg_progress;
  jpeg->reader.progress = &jpeg->progress;
  jpeg_start_decompress(&jpeg->reader);
  return jpeg->reader.output_components == static_cast<int>(kColours);
}

bool read_row(Jpeg* jpeg, uint8_t* row) {
  if (setjmp(jpeg->jump) != 0) return false;
  return jpeg_read_scanlines(&jpeg->reader, &row, 1) == 1;
}

/// What stands behind `mark` in the marker; empty: it does not begin so.
std::span<const uint8_t> behind(const jpeg_marker_struct& marker, std::string_view mark) {
  const std::span<const uint8_t> data(marker.data, marker.data_length);
  if (data.size() < mark.size() || !std::equal(mark.begin(), mark.end(), data.begin())) return {};
  return data.subspan(mark.size());
}

/// EXIF data may be in several markers, of XMP the last counts.
Orientation orientation_of(const Jpeg& jpeg) {
  using namespace std::string_view_literals;
  Orientation orientation;
  std::vector<uint8_t> exif;
  for (const auto* marker = jpeg.reader.marker_list; marker != nullptr; marker = marker->next) {
    const auto part = behind(*marker, "Exif\0\0"sv);
    exif.insert(exif.end(), part.begin(), part.end());
    const auto xmp = behind(*marker, "http://ns.adobe.com/xap/1.0/\0"sv);
    if (!xmp.empty())
      orientation.xmp = xmp_orientation({reinterpret_cast<const char*>(xmp.data()), xmp.size()});
  }
  orientation.exif = exif_orientation(exif);
  return orientation;
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
  if (jpeg.reader.jpeg_color_space == JCS_CMYK || jpeg.reader.jpeg_color_space == JCS_YCCK)
    convert::fail("a JPEG of inks (CMYK) is not supported; save it as RGB");
  const Turn turn = orientation_of(jpeg).turn();
  if (!begin_rows(&jpeg)) fail_jpeg(jpeg);
  begin_file(sink, width, height, turn);
  std::vector<uint8_t> row(size_t{width} * kColours);
  for (uint32_t y = 0; y < height; ++y) {
    if (!read_row(&jpeg, row.data()) || jpeg.ended) fail_jpeg(jpeg);
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
