// SPDX-License-Identifier: Apache-2.0
//
// Pictures whose size decides what they become.
#pragma once

#include <optional>
#include <vector>

#include "host/media/resample.h"
#include "host/media/sides.h"
#include "mote/pictures.h"

namespace mote::pictures {

/// A picture [height, width, 3].
struct Raster {
  uint32_t height, width;
  std::vector<uint8_t> pixels;
};

Raster resized_to(const Raster& picture, Sides sides, Filter filter, const Limits& limits);

/// Makes a picture of the sides that a model wants of its size; of a model of tiles, before it is cut.
class FittedResampler : public RowSink {
 public:
  FittedResampler(const mote_picture_info& info, Filter filter, const Limits& limits)
      : info_(info), filter_(filter), limits_(limits) {}

  void begin(uint32_t width, uint32_t height, Turn turn) override;
  void row(const uint8_t* pixels) override { resampler_->row(pixels); }

  /// After the last row.
  Raster result() const { return {sides_.height, sides_.width, resampler_->result()}; }

 private:
  const mote_picture_info& info_;
  Filter filter_;
  Limits limits_;
  Sides sides_{};
  std::optional<Resampler> resampler_;
};

}  // namespace mote::pictures
