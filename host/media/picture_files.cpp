// SPDX-License-Identifier: Apache-2.0
//
// Formats of pictures by the first bytes of their files.
#include <algorithm>
#include <string_view>

#include "host/base/error.h"
#include "host/media/rows.h"

namespace mote::pictures {
namespace {

using Reader = void(std::span<const std::byte> file, const Limits& limits, RowSink& sink);

struct Format {
  std::string_view begin;
  size_t at;              // of `next`
  std::string_view next;  // bytes behind the first ones
  Reader* reader;
};

using namespace std::string_view_literals;
constexpr Format kFormats[] = {
    {"\x89PNG"sv, 0, ""sv, read_png},    {"\xFF\xD8\xFF"sv, 0, ""sv, read_jpeg},
    {"RIFF"sv, 8, "WEBP"sv, read_webp},  {"GIF87a"sv, 0, ""sv, read_gif},
    {"GIF89a"sv, 0, ""sv, read_gif},     {"BM"sv, 0, ""sv, read_bmp},
    {"II*\0"sv, 0, ""sv, read_tiff},     {"MM\0*"sv, 0, ""sv, read_tiff},
    {"II+\0\x08"sv, 0, ""sv, read_tiff}, {"MM\0+\0\x08"sv, 0, ""sv, read_tiff},
    {"P1"sv, 0, ""sv, read_pnm},         {"P2"sv, 0, ""sv, read_pnm},
    {"P3"sv, 0, ""sv, read_pnm},         {"P4"sv, 0, ""sv, read_pnm},
    {"P5"sv, 0, ""sv, read_pnm},         {"P6"sv, 0, ""sv, read_pnm},
};

}  // namespace

void read_rows(std::span<const std::byte> file, const Limits& limits, RowSink& sink) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& one) {
    return bytes.starts_with(one.begin) &&
           (one.at == 0 || (bytes.size() >= one.at && bytes.substr(one.at).starts_with(one.next)));
  });
  if (format == std::end(kFormats)) {
    convert::fail(
        "is no picture of a kind that mote reads (PNG, JPEG, WebP, GIF, BMP, TIFF, PBM, PGM, PPM); `ffmpeg "
        "-i "
        "FILE out.png` makes a PNG of most others");
  }
  format->reader(file, limits, sink);
}

}  // namespace mote::pictures
