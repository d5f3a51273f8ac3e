// SPDX-License-Identifier: Apache-2.0
#include "host/media/sides.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/base/error.h"

namespace mote::pictures {
namespace {

/// Returns a side as a whole number, the largest that there is for one that is larger.
uint32_t whole(double side) {
  return static_cast<uint32_t>(std::min(side, static_cast<double>(std::numeric_limits<uint32_t>::max())));
}

uint32_t round_up(uint32_t side, uint32_t unit) { return (side + unit - 1) / unit * unit; }

}  // namespace

Sides shorter_sides(Sides own, uint32_t shorter) {
  // The original computes in doubles.
  const auto longer = [&](uint32_t of, uint32_t to) {
    return whole(static_cast<double>(uint64_t{shorter} * of) / to);
  };
  return own.height <= own.width ? Sides{shorter, longer(own.width, own.height)}
                                 : Sides{longer(own.height, own.width), shorter};
}

Sides even_sides(Sides own, Sides wanted, uint32_t unit) {
  const double down = static_cast<double>(wanted.height) / own.height,
               across = static_cast<double>(wanted.width) / own.width;
  const double factor = std::fabs(1 - across) < std::fabs(1 - down) ? across : down;
  const auto side = [&](uint32_t of) {  // to even at a half, as Python rounds
    return std::max(whole(std::nearbyint(factor * of / unit) * unit), unit);
  };
  return {side(own.height), side(own.width)};
}

Sides rounded_sides(Sides own, uint32_t unit, uint32_t least, uint32_t most, double ratio) {
  const double h = own.height, w = own.width, u = unit;
  if (std::max(h, w) / std::min(h, w) > ratio)
    convert::fail("a picture of {} x {} pixels has a side more than {} times the other", own.width,
                  own.height, ratio);
  // To even at a half, as Python rounds.
  double rows = std::nearbyint(h / u) * u, columns = std::nearbyint(w / u) * u;
  if (rows * columns > most) {
    const double shrink = std::sqrt(h * w / most);
    rows = std::max(u, std::floor(h / shrink / u) * u);
    columns = std::max(u, std::floor(w / shrink / u) * u);
  } else if (rows * columns < least) {
    const double grow = std::sqrt(least / (h * w));
    rows = std::ceil(h * grow / u) * u;
    columns = std::ceil(w * grow / u) * u;
  }
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
}

Sides patched_sides(Sides own, uint32_t unit, uint32_t most) {
  constexpr double kNear = 1e-5;
  const auto units = [&](double factor, uint32_t side) {
    return std::max(1.0, std::ceil(side * factor / unit));
  };
  double least = kNear / 10, largest = 100.0;
  while (largest - least >= kNear) {
    const double factor = (least + largest) / 2;
    (units(factor, own.height) * units(factor, own.width) <= most ? least : largest) = factor;
  }
  return {unit * whole(units(least, own.height)), unit * whole(units(least, own.width))};
}

Sides longest_sides(Sides own, uint32_t longest, uint32_t most) {
  const double ratio = static_cast<double>(own.width) / own.height;
  const auto even = [](double side) {
    const auto whole = static_cast<uint32_t>(side);
    return std::max(1u, whole + whole % 2);
  };
  Sides sides =
      own.width >= own.height ? Sides{even(longest / ratio), longest} : Sides{longest, even(longest * ratio)};
  const double kept = static_cast<double>(sides.width) / sides.height;
  if (sides.width >= sides.height && sides.width > most)
    sides = {static_cast<uint32_t>(most / kept), most};
  else if (sides.height > sides.width && sides.height > most)
    sides = {most, static_cast<uint32_t>(most * kept)};
  return {std::max(sides.height, 1u), std::max(sides.width, 1u)};
}

Sides tiled_sides(Sides own, uint32_t tile) {
  const auto [height, width] = own;
  const double ratio = static_cast<double>(width) / height;
  if (width >= height) {
    const uint32_t columns = round_up(width, tile);
    return {round_up(static_cast<uint32_t>(columns / ratio), tile), columns};
  }
  const uint32_t rows = round_up(height, tile);
  return {rows, round_up(static_cast<uint32_t>(rows * ratio), tile)};
}

Sides bounded_sides(Sides own, uint32_t shortest, uint32_t longest, uint32_t unit) {
  const auto [height, width] = own;
  // In doubles and in the original's order, which decides how halves and thirds are rounded.
  const double most = std::max(height, width), least = std::min(height, width);
  double exact = shortest;
  uint32_t side = shortest;
  if (most / least * shortest > longest) {
    exact = longest * least / most;
    side = static_cast<uint32_t>(std::nearbyint(exact));  // to even at a half, as Python rounds
  }
  Sides sides{side, side};
  if (width < height) {
    sides.height = static_cast<uint32_t>(exact * height / width);
  } else if (height == side) {
    sides.width = width;
  } else {
    sides.width = static_cast<uint32_t>(exact * width / height);
  }
  return {sides.height / unit * unit, sides.width / unit * unit};
}

}  // namespace mote::pictures
