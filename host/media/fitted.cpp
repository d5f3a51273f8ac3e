// SPDX-License-Identifier: Apache-2.0
#include "host/media/fitted.h"

namespace mote::pictures {
namespace {

Shape shape_of(Sides sides, Filter filter) {
  return {sides.height, sides.width, 0, 0, sides.height, sides.width, filter};
}

}  // namespace

Raster resized_to(const Raster& picture, Sides sides, Filter filter, const Limits& limits) {
  if (picture.height == sides.height && picture.width == sides.width) return picture;
  Resampler resampler(shape_of(sides, filter), limits);
  resampler.begin(picture.width, picture.height, Turn{});
  for (uint32_t y = 0; y < picture.height; ++y)
    resampler.row(picture.pixels.data() + size_t{y} * picture.width * kColours);
  return {sides.height, sides.width, resampler.result()};
}

void FittedResampler::begin(uint32_t width, uint32_t height, Turn turn) {
  sides_ = info_.tile != 0 ? longest_sides(height, width, info_.longest)
                           : rounded_sides(height, width, info_.patch * info_.merge, info_.least_pixels,
                                           info_.most_pixels);
  resampler_.emplace(shape_of(sides_, filter_), limits_);
  resampler_->begin(width, height, turn);
}

}  // namespace mote::pictures
