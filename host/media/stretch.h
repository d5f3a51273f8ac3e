// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "host/media/sides.h"

namespace mote::pictures {

/// A map of numbers at another size, as PyTorch's interpolate makes it bicubically without align_corners and
/// antialias: of 4 x 4 neighbours, those outside the map being the nearest in it. A row at a time.
class Stretch {
 public:
  /// `map`, [from.height, from.width], must outlive it.
  Stretch(std::span<const float> map, Sides from, Sides to);

  /// Row y of the result, [to.width].
  void row(uint32_t y, float* out);

 private:
  struct Taps {
    uint32_t at[4];
    float weights[4];
  };
  static Taps taps_of(uint32_t place, uint32_t from, uint32_t to);

  std::span<const float> map_;
  Sides from_, to_;
  std::vector<Taps> across_;  // [to.width]
  std::vector<float> line_;   // [from.width]
};

}  // namespace mote::pictures
