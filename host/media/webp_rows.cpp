// SPDX-License-Identifier: Apache-2.0
//
// WebP by libwebp: the picture or the first frame of an animation on its canvas. Transparency is dropped, and
// what the frame does not cover is black, as Pillow has it.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "host/base/error.h"
#include "host/media/orientation.h"
#include "host/media/picture_bytes.h"

namespace mote::pictures {
namespace {

using Demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;

/// Returns the data of the first chunk of a kind, which lie in the file; empty: there is none.
std::span<const uint8_t> chunk_of(const WebPDemuxer* demuxer, const char* kind) {
  WebPChunkIterator place;
  std::span<const uint8_t> data;
  if (WebPDemuxGetChunk(demuxer, kind, 1, &place) != 0) data = {place.chunk.bytes, place.chunk.size};
  WebPDemuxReleaseChunkIterator(&place);
  return data;
}

Turn turn_of(const WebPDemuxer* demuxer) {
  const std::span<const uint8_t> xmp = chunk_of(demuxer, "XMP ");
  return Orientation{marked_exif_orientation(chunk_of(demuxer, "EXIF")),
                     xmp_orientation({reinterpret_cast<const char*>(xmp.data()), xmp.size()})}
      .turn();
}

}  // namespace

void read_webp(std::span<const std::byte> bytes, const Limits& limits, RowSink& sink) {
  const PictureBytes file(bytes, "WebP");
  const WebPData data = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  const Demuxer demuxer(WebPDemux(&data), WebPDemuxDelete);
  if (!demuxer) file.fail_damaged("its parts are not whole");
  const uint32_t width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH),
                 height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT);
  constexpr uint64_t kOfOneColour = uint64_t{1} << 26;  // without loss, in few bytes
  file.check_sides(width, height, limits, kOfOneColour);
  WebPIterator found;
  const bool has_frame = WebPDemuxGetFrame(demuxer.get(), 1, &found) != 0;
  const std::unique_ptr<WebPIterator, decltype(&WebPDemuxReleaseIterator)> frame(&found,
                                                                                 WebPDemuxReleaseIterator);
  WebPBitstreamFeatures features;
  if (!has_frame || WebPGetFeatures(found.fragment.bytes, found.fragment.size, &features) != VP8_STATUS_OK ||
      features.width != found.width || features.height != found.height)
    file.fail_damaged("its header is not one of pixels");
  const auto frame_width = static_cast<uint32_t>(found.width),
             frame_height = static_cast<uint32_t>(found.height), left = static_cast<uint32_t>(found.x_offset),
             top = static_cast<uint32_t>(found.y_offset);
  // libwebp keeps all of a frame: its colours, and 4 bytes a pixel where they are without loss or
  // transparent.
  constexpr int kLossy = 1;
  const bool keeps_more = features.format != kLossy || features.has_alpha != 0;
  file.check_kept(frame_width, frame_height, kColours + (keeps_more ? 4 : 0), limits);
  std::vector<uint8_t> pixels(size_t{frame_width} * frame_height * kColours);
  if (WebPDecodeRGBInto(found.fragment.bytes, found.fragment.size, pixels.data(), pixels.size(),
                        static_cast<int>(frame_width * kColours)) == nullptr)
    file.fail_damaged("its pixels are not whole");
  begin_file(sink, width, height, turn_of(demuxer.get()));
  std::vector<uint8_t> row(size_t{width} * kColours);
  for (uint32_t y = 0; y < height; ++y) {
    std::fill(row.begin(), row.end(), uint8_t{0});
    if (y >= top && y - top < frame_height)
      std::copy_n(&pixels[size_t{y - top} * frame_width * kColours], size_t{frame_width} * kColours,
                  &row[size_t{left} * kColours]);
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
