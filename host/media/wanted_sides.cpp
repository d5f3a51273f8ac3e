// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include "host/base/error.h"
#include "host/media/sides.h"

namespace mote::pictures {
namespace {

/// Takes a side from the front of the text; 0: there is none.
uint32_t take_side(std::string_view& text) {
  constexpr uint32_t kMostSide = 1 << 16;
  uint32_t side = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc{} || side > kMostSide) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return side;
}

}  // namespace

std::optional<WantedSides> read_wanted_sides(std::string_view text) {
  if (text == "own") return WantedSides{};
  WantedSides wanted{WantedSides::both};
  for (const auto& [word, kind] :
       {std::pair<std::string_view, WantedSides::Kind>{"longest=", WantedSides::longest},
        {"shortest=", WantedSides::shortest}}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    wanted.kind = kind;
  }
  const uint32_t first = take_side(text);
  if (wanted.kind == WantedSides::both) {
    if (text.empty() || text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
    wanted.width = first;
    wanted.height = take_side(text);
    if (wanted.width == 0) return std::nullopt;
  } else {
    wanted.height = first;
  }
  if (wanted.height == 0 || !text.empty()) return std::nullopt;
  return wanted;
}

Sides wanted_sides(Sides own, const WantedSides& wanted, uint32_t unit) {
  if (wanted.kind == WantedSides::both) {
    if (wanted.height % unit != 0 || wanted.width % unit != 0)
      convert::fail("pictures of {} x {} pixels: this model takes sides that are multiples of {}",
                    wanted.width, wanted.height, unit);
    return {wanted.height, wanted.width};
  }
  const uint32_t given = wanted.kind == WantedSides::shortest ? std::min(own.height, own.width)
                                                              : std::max(own.height, own.width);
  const double scale = wanted.kind == WantedSides::own ? 1.0 : static_cast<double>(wanted.height) / given;
  const auto side = [&](uint32_t length) {
    const double units = std::floor(length * scale / unit + 0.5);
    return unit * static_cast<uint32_t>(std::clamp(units, 1.0, double{1 << 20}));
  };
  return {side(own.height), side(own.width)};
}

}  // namespace mote::pictures
