// SPDX-License-Identifier: Apache-2.0
//
// TIFF by libtiff: the first picture of a file, in strips, tiles or planes.
#include <tiffio.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "host/media/orientation.h"
#include "host/media/tiff_pixels.h"

namespace mote::pictures {
namespace {

/// A file in memory, as libtiff reads one, and what it said first of what is wrong.
struct Source {
  std::span<const std::byte> file;
  uint64_t at = 0;
  char message[160] = "";
};

extern "C" {
static tmsize_t tiff_read(thandle_t handle, void* to, tmsize_t count) {
  auto* source = static_cast<Source*>(handle);
  if (count < 0 || source->at >= source->file.size()) return 0;
  const size_t given =
      std::min(static_cast<size_t>(count), source->file.size() - static_cast<size_t>(source->at));
  std::memcpy(to, source->file.data() + source->at, given);
  source->at += given;
  return static_cast<tmsize_t>(given);
}
static tmsize_t tiff_write(thandle_t, void*, tmsize_t) { return 0; }
static toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
  auto* source = static_cast<Source*>(handle);
  const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source->at : source->file.size();
  source->at = base + offset;
  return source->at;
}
static int tiff_close(thandle_t) { return 0; }
static toff_t tiff_size(thandle_t handle) { return static_cast<Source*>(handle)->file.size(); }
static int on_tiff_error(TIFF*, void* data, const char*, const char* text, va_list values) {
  auto* source = static_cast<Source*>(data);
  if (source->message[0] == 0) std::vsnprintf(source->message, sizeof source->message, text, values);
  return 1;
}
static int on_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }
}

using Tiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

constexpr uint64_t kOwnBytes = 1 << 16;  // that libtiff needs for itself

Tiff opened(Source& source, const Limits& limits) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_tiff_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_tiff_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                      static_cast<tmsize_t>(std::max(limits.bytes, kOwnBytes)));
  return {TIFFClientOpenExt("picture", "rm", &source, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size,
                            nullptr, nullptr, options.get()),
          TIFFClose};
}

[[noreturn]] void fail_tiff(const PictureBytes& file, const Source& source) {
  file.fail_damaged(source.message[0] == 0 ? "its rows are not those of its header" : source.message);
}

uint32_t field16(TIFF* tiff, uint32_t tag, uint16_t absent) {
  uint16_t value = absent;
  return TIFFGetFieldDefaulted(tiff, tag, &value) != 0 ? value : absent;
}

TiffPixels pixels_of(const PictureBytes& file, TIFF* tiff) {
  TiffPixels pixels;
  uint16_t photometric = 0;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  pixels.photometric = photometric;
  pixels.bits = field16(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  pixels.samples = field16(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  pixels.sample_format = field16(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  pixels.is_big_endian = TIFFIsBigEndian(tiff) != 0;
  uint16_t count = 0, *extras = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &extras) != 0)
    pixels.extras.assign(extras, extras + count);
  const uint32_t compression = field16(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (compression == COMPRESSION_OJPEG) file.fail_unsupported("old-style JPEG");
  pixels.is_jpeg = compression == COMPRESSION_JPEG;
  uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (pixels.photometric == PHOTOMETRIC_PALETTE && pixels.bits <= 8) {
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) == 0)
      file.fail_damaged("its palette is missing");
    for (size_t i = 0; i < size_t{1} << pixels.bits; ++i) {
      for (const uint16_t* colour : {red, green, blue})
        pixels.palette.push_back(static_cast<uint8_t>(colour[i] >> 8));
    }
  }
  return pixels;
}

Turn turn_of(std::span<const std::byte> file, TIFF* tiff) {
  constexpr std::byte kBigTiff{43};
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  Orientation orientation{exif_orientation({bytes, file.size()})};
  uint16_t number = 0;
  if ((file[2] == kBigTiff || file[3] == kBigTiff) && TIFFGetField(tiff, TIFFTAG_ORIENTATION, &number) != 0)
    orientation.exif = number;
  uint32_t count = 0;
  const char* xmp = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_XMLPACKET, &count, &xmp) != 0)
    orientation.xmp = xmp_orientation({xmp, count});
  return orientation.turn();
}

/// Gives the rows of a picture as they lie in its file, pixel by pixel.
class Rows {
 public:
  Rows(const PictureBytes& file, const Source& source, TIFF* tiff, const Limits& limits, TiffPixels& pixels,
       uint32_t width, uint32_t height)
      : file_(file), source_(source), tiff_(tiff), limits_(limits), width_(width), height_(height) {
    is_tiled_ = TIFFIsTiled(tiff) != 0;
    const bool in_planes = pixels.samples > 1 &&
                           field16(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    if (is_tiled_) {
      TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width_);
      TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height_);
      if (tile_width_ == 0 || tile_height_ == 0) file.fail_damaged("its tiles have no pixels");
    }
    const uint64_t across = is_tiled_ ? (uint64_t{width} + tile_width_ - 1) / tile_width_ : 1;
    row_bytes_ = is_tiled_ ? across * TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff);
    const uint64_t bits = uint64_t{width} * pixels.bits * (in_planes ? 1 : pixels.samples);
    if (row_bytes_ < (bits + 7) / 8) fail_tiff(file, source);
    if (row_bytes_ > limits.bytes || (is_tiled_ && row_bytes_ > limits.bytes / tile_height_))
      file.check_kept(width, height, limits.bytes, limits);
    if (is_tiled_) kept_.resize(static_cast<size_t>(row_bytes_ * tile_height_));
    row_.resize(static_cast<size_t>(row_bytes_));
    if (in_planes) join_planes(pixels);
  }

  const uint8_t* row(uint32_t y) {
    if (!joined_.empty()) return &joined_[y * joined_row_bytes_];
    return read(y, 0);
  }

 private:
  const uint8_t* read(uint32_t y, uint16_t plane) {
    if (!is_tiled_) {
      if (TIFFReadScanline(tiff_, row_.data(), y, plane) < 0) fail_tiff(file_, source_);
      return row_.data();
    }
    if (y % tile_height_ == 0) read_tiles(y, plane);
    return &kept_[(y % tile_height_) * row_.size()];
  }

  /// Reads the tiles from row y on, side by side.
  void read_tiles(uint32_t y, uint16_t plane) {
    const auto tile_row = static_cast<size_t>(TIFFTileRowSize64(tiff_));
    std::vector<uint8_t> tile(static_cast<size_t>(TIFFTileSize64(tiff_)));
    for (size_t index = 0; index * tile_row < row_.size(); ++index) {
      const auto x = static_cast<uint32_t>(index * tile_width_);
      if (TIFFReadTile(tiff_, tile.data(), x, y, 0, plane) < 0) fail_tiff(file_, source_);
      for (size_t line = 0; line < tile_height_; ++line)
        std::copy_n(&tile[line * tile_row], tile_row, &kept_[line * row_.size() + index * tile_row]);
    }
  }

  /// Keeps all planes of bytes that are colours, as one.
  void join_planes(TiffPixels& pixels) {
    if (pixels.bits != 8 || (!pixels.extras.empty() && pixels.extras[0] == EXTRASAMPLE_ASSOCALPHA))
      file_.fail_unsupported("planes of more than 8 bits or with transparency multiplied in");
    const uint32_t planes = tiff_colours(pixels);
    file_.check_kept(width_, height_, planes, limits_);
    joined_row_bytes_ = size_t{width_} * planes;
    joined_.resize(joined_row_bytes_ * height_);
    for (uint16_t plane = 0; plane < planes; ++plane) {
      for (uint32_t y = 0; y < height_; ++y) {
        const uint8_t* row = read(y, plane);
        for (uint32_t x = 0; x < width_; ++x)
          joined_[y * joined_row_bytes_ + size_t{x} * planes + plane] = row[x];
      }
    }
    pixels.samples = planes;
    pixels.extras.clear();
  }

  const PictureBytes& file_;
  const Source& source_;
  TIFF* tiff_;
  Limits limits_;
  uint32_t width_, height_, tile_width_ = 0, tile_height_ = 0;
  uint64_t row_bytes_ = 0;
  size_t joined_row_bytes_ = 0;
  bool is_tiled_ = false;
  std::vector<uint8_t> row_, kept_, joined_;
};

}  // namespace

void read_tiff(std::span<const std::byte> bytes, const Limits& limits, RowSink& sink) {
  const PictureBytes file(bytes, "TIFF");
  Source source{bytes};
  const Tiff tiff = opened(source, limits);
  if (!tiff) fail_tiff(file, source);
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  constexpr uint64_t kEmptyPage = uint64_t{1} << 26;  // of a fax, in few bytes
  file.check_sides(width, height, limits, kEmptyPage);
  TiffPixels pixels = pixels_of(file, tiff.get());
  const TiffRow make = tiff_row(file, pixels);
  if (pixels.is_jpeg && pixels.photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  const Turn turn = turn_of(bytes, tiff.get());
  Rows rows(file, source, tiff.get(), limits, pixels, width, height);
  begin_file(sink, width, height, turn);
  std::vector<uint8_t> row(size_t{width} * kColours);
  for (uint32_t y = 0; y < height; ++y) {
    make(pixels, rows.row(y), width, row.data());
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
