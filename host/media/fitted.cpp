// SPDX-License-Identifier: Apache-2.0
#include "host/media/fitted.h"

#include "host/base/error.h"

namespace mote::pictures {
namespace {

Shape shape_of(Sides sides, Filter filter) { return {sides, {}, sides.height, sides.width, filter, false}; }

}  // namespace

Raster resized_to(const Raster& picture, Sides sides, Filter filter, const Limits& limits) {
  if (picture.height == sides.height && picture.width == sides.width) return picture;
  Resampler resampler(shape_of(sides, filter), limits);
  resampler.begin(picture.width, picture.height, Turn{});
  for (uint32_t y = 0; y < picture.height; ++y)
    resampler.row(picture.pixels.data() + size_t{y} * picture.width * kColours);
  return {sides.height, sides.width, resampler.result()};
}

void FittedResampler::check_rows(Sides sides) const {
  const uint32_t patch = info_.patch, unit = patch * info_.merge;
  if (sides.height == 0 || sides.width == 0)
    convert::fail("a picture of {} x {} pixels becomes {} x {}; this model takes sides of at least {}",
                  own_.width, own_.height, sides.width, sides.height, unit);
  if (sides.height % unit != 0 || sides.width % unit != 0)
    convert::fail(
        "a picture of {} x {} pixels becomes {} x {}; this model takes sides that are multiples of {}",
        own_.width, own_.height, sides.width, sides.height, unit);
  const uint64_t rows = uint64_t{sides.height / patch} * (sides.width / patch) + info_.before + info_.after;
  if (rows > info_.most_rows)
    convert::fail("a picture of {} x {} pixels becomes {} x {}, of {} rows; this model takes at most {}",
                  own_.width, own_.height, sides.width, sides.height, rows, info_.most_rows);
}

void FittedResampler::begin(uint32_t width, uint32_t height, Turn turn) {
  own_ = {height, width};
  steps_ = prepare(info_, own_);
  if (wanted_) {
    steps_.sides = wanted_sides(own_, *wanted_, info_.patch * info_.merge);
    steps_.crop = {};
  }
  if (own_sides_ && info_.any_size != 0) check_rows(steps_.sides);
  const Sides made = own_sides_ ? steps_.sides : Sides{info_.height, info_.width};
  resampler_.emplace(
      Shape{steps_.sides, steps_.crop, made.height, made.width, steps_.filter, steps_.takes_others}, limits_);
  resampler_->begin(width, height, turn);
  made_ = made;
}

}  // namespace mote::pictures
