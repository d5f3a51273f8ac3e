// SPDX-License-Identifier: Apache-2.0
//
// Pictures whose size decides what they become.
#pragma once

#include <optional>
#include <vector>

#include "host/media/picture_steps.h"
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

/// Makes a picture of what a model's steps make of its size; of a model of tiles, before it is cut.
class FittedResampler : public RowSink {
 public:
  /// With `own_sides` the result has the sides that the steps give, of at most the rows that a model of any
  /// size takes, else the model's, and another picture is refused.
  FittedResampler(const mote_picture_info& info, bool own_sides, const Limits& limits)
      : info_(info), own_sides_(own_sides), limits_(limits) {}
  /// The result has the wanted sides in place of what the steps resize to and crop.
  FittedResampler(const mote_picture_info& info, const WantedSides& wanted, const Limits& limits)
      : info_(info), own_sides_(true), wanted_(wanted), limits_(limits) {}

  void begin(uint32_t width, uint32_t height, Turn turn) override;
  void row(const uint8_t* pixels) override { resampler_->row(pixels); }

  // After the first row:

  const Prepared& steps() const { return steps_; }
  /// Returns the sides of the picture as it came.
  Sides own() const { return own_; }
  /// Returns the picture, after the last row.
  Raster result() const { return {made_.height, made_.width, resampler_->result()}; }

 private:
  /// Refuses sides that are no multiples of the patch or of more rows than the model takes, before their
  /// memory is taken.
  void check_rows(Sides sides) const;

  const mote_picture_info& info_;
  bool own_sides_;
  std::optional<WantedSides> wanted_;
  Limits limits_;
  Prepared steps_{};
  Sides own_{}, made_{};
  std::optional<Resampler> resampler_;
};

}  // namespace mote::pictures
