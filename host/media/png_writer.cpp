// SPDX-License-Identifier: Apache-2.0
#include "host/media/png_writer.h"

#include <exception>
#include <vector>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/media/png_errors.h"

namespace mote::pictures {
namespace {

constexpr int kCompression = 3;  // of 1 to 9: large pictures are written several times as fast as by default

/// The state that libpng's calls share. An exception of the output file is kept until libpng has been left.
struct PngTarget : PngErrors {
  convert::OutputFile* output;
  png_structp writer = nullptr;
  png_infop info = nullptr;
  std::exception_ptr thrown = nullptr;

  ~PngTarget() { png_destroy_write_struct(&writer, &info); }
};

extern "C" {
static void take_bytes(png_structp writer, png_bytep bytes, size_t count) {
  auto* png = static_cast<PngTarget*>(png_get_io_ptr(writer));
  if (png->thrown != nullptr) return;
  try {
    png->output->write(std::as_bytes(std::span(bytes, count)));
  } catch (...) {
    png->thrown = std::current_exception();
  }
}
static void flush_bytes(png_structp) {}
}

// Each of these has no objects to destroy where an error jumps out of libpng. False: there was one.

bool begin_png(PngTarget* png, Sides sides) {
  if (setjmp(png->jump) != 0) return false;
  png->info = png_create_info_struct(png->writer);
  if (png->info == nullptr) return false;
  png_set_write_fn(png->writer, png, take_bytes, flush_bytes);
  png_set_compression_level(png->writer, kCompression);
  png_set_IHDR(png->writer, png->info, sides.width, sides.height, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png->writer, png->info);
  return true;
}

bool write_png_row(PngTarget* png, const uint8_t* row) {
  if (setjmp(png->jump) != 0) return false;
  png_write_row(png->writer, row);
  return true;
}

bool end_png(PngTarget* png) {
  if (setjmp(png->jump) != 0) return false;
  png_write_end(png->writer, png->info);
  return true;
}

void check_png(const PngTarget& png, bool done) {
  if (png.thrown != nullptr) std::rethrow_exception(png.thrown);
  if (!done) convert::fail("libpng writes no PNG: {}", png.message);
}

}  // namespace

void write_grey_png(const std::string& path, Sides sides,
                    const std::function<void(uint32_t y, uint16_t* row)>& fill) {
  convert::OutputFile output(path);
  PngTarget png;
  png.output = &output;
  png.writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, static_cast<PngErrors*>(&png), on_png_error,
                                       on_png_warning);
  if (png.writer == nullptr) convert::fail("libpng does not start");
  check_png(png, begin_png(&png, sides));
  std::vector<uint16_t> values(sides.width);
  std::vector<uint8_t> row(size_t{sides.width} * 2);
  for (uint32_t y = 0; y < sides.height; ++y) {
    fill(y, values.data());
    for (size_t x = 0; x < values.size(); ++x) {  // the higher byte first
      row[2 * x] = static_cast<uint8_t>(values[x] >> 8);
      row[2 * x + 1] = static_cast<uint8_t>(values[x]);
    }
    check_png(png, write_png_row(&png, row.data()));
  }
  check_png(png, end_png(&png));
  output.commit();
}

}  // namespace mote::pictures
