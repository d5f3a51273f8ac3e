// SPDX-License-Identifier: Apache-2.0
//
// PNG by libpng. Transparency is dropped, as Pillow's convert("RGB") does.
#include <cstring>
#include <vector>

#include "host/base/error.h"
#include "host/media/orientation.h"
#include "host/media/picture_bytes.h"
#include "host/media/png_errors.h"
#include "host/media/rows.h"

namespace mote::pictures {
namespace {

/// The state that libpng's calls share.
struct Png : PngErrors {
  std::span<const std::byte> file;
  size_t at = 0;
  png_structp reader = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  int depth = 0, colours = 0, interlace = 0;

  /// Grey of 16 bits, which ends at 255 in Pillow.
  bool is_wide_grey() const { return depth == 16 && colours == PNG_COLOR_TYPE_GRAY; }
  size_t row_bytes() const { return size_t{width} * (is_wide_grey() ? 2 : kColours); }

  ~Png() { png_destroy_read_struct(&reader, &info, nullptr); }
};

extern "C" {
static void give_bytes(png_structp reader, png_bytep to, size_t count) {
  auto* png = static_cast<Png*>(png_get_io_ptr(reader));
  if (count > png->file.size() - png->at) png_error(reader, "the file ends too early");
  std::memcpy(to, png->file.data() + png->at, count);
  png->at += count;
}
}

// Each of these has no objects to destroy where an error jumps out of libpng. False: there was one.

bool read_header(Png* png) {
  if (setjmp(png->jump) != 0) return false;
  png->info = png_create_info_struct(png->reader);
  if (png->info == nullptr) return false;
  png_set_read_fn(png->reader, png, give_bytes);
  // Chunks beside the pixels are passed over: libpng would make room for as many bytes as they say to have.
  png_set_keep_unknown_chunks(png->reader, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_chunk_malloc_max(png->reader, png->file.size());
  png_read_info(png->reader, png->info);
  png_get_IHDR(png->reader, png->info, &png->width, &png->height, &png->depth, &png->colours, &png->interlace,
               nullptr, nullptr);
  return true;
}

bool begin_rows(Png* png) {
  if (setjmp(png->jump) != 0) return false;
  if (png->depth == 16 && !png->is_wide_grey()) png_set_strip_16(png->reader);
  png_set_expand(png->reader);
  png_set_strip_alpha(png->reader);
  if ((png->colours & PNG_COLOR_MASK_COLOR) == 0 && !png->is_wide_grey()) png_set_gray_to_rgb(png->reader);
  png_set_interlace_handling(png->reader);
  png_read_update_info(png->reader, png->info);
  return png_get_rowbytes(png->reader, png->info) == png->row_bytes();
}

bool read_row(Png* png, uint8_t* row) {
  if (setjmp(png->jump) != 0) return false;
  png_read_row(png->reader, row, nullptr);
  return true;
}

bool read_all(Png* png, uint8_t** rows) {
  if (setjmp(png->jump) != 0) return false;
  png_read_image(png->reader, rows);
  return true;
}

[[noreturn]] void fail_png(const Png& png) {
  convert::fail("the PNG is damaged: {}",
                png.message[0] == 0 ? "its rows are not those of its header" : png.message);
}

void give_row(const Png& png, const uint8_t* row, RowSink& sink) {
  if (!png.is_wide_grey()) return sink.row(row);
  std::vector<uint8_t> colours(size_t{png.width} * kColours);
  for (size_t x = 0; x < png.width; ++x)
    write_grey(row[2 * x] != 0 ? 255u : row[2 * x + 1], &colours[x * kColours]);
  sink.row(colours.data());
}

void read_interlaced(Png* png, RowSink& sink) {
  const size_t row_bytes = png->row_bytes();
  std::vector<uint8_t> pixels(row_bytes * png->height);
  std::vector<uint8_t*> rows(png->height);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = pixels.data() + i * row_bytes;
  if (!read_all(png, rows.data())) fail_png(*png);
  for (const uint8_t* row : rows) give_row(*png, row, sink);
}

}  // namespace

void read_png(std::span<const std::byte> file, const Limits& limits, RowSink& sink) {
  Png png;
  png.file = file;
  png.reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, static_cast<PngErrors*>(&png), on_png_error,
                                      on_png_warning);
  if (png.reader == nullptr) convert::fail("libpng does not start");
  if (!read_header(&png)) fail_png(png);
  const uint64_t pixels = uint64_t{png.width} * png.height;
  const bool interlaced = png.interlace != PNG_INTERLACE_NONE;
  if (pixels > limits.pixels || (interlaced && pixels * (kColours + sizeof(void*)) > limits.bytes))
    convert::fail("a PNG of {} x {} pixels{} is too large", png.width, png.height,
                  interlaced ? ", interlaced," : "");
  const Turn turn = png_orientation(file).turn();
  if (!begin_rows(&png)) fail_png(png);
  begin_file(sink, png.width, png.height, turn);
  if (interlaced) return read_interlaced(&png, sink);
  std::vector<uint8_t> row(png.row_bytes());
  for (uint32_t y = 0; y < png.height; ++y) {
    if (!read_row(&png, row.data())) fail_png(png);
    give_row(png, row.data(), sink);
  }
}

}  // namespace mote::pictures
