// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "converter/convert.h"

namespace mote::convert {

bool read_picture_size(const std::string& text, PictureSides& sides) {
  constexpr uint32_t kMostSide = 1 << 16;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto side = [&](uint32_t* to) {
    const auto [next, error] = std::from_chars(at, end, *to);
    at = next;
    return error == std::errc{} && *to >= 1 && *to <= kMostSide;
  };
  return side(&sides.width) && at != end && *at++ == 'x' && side(&sides.height) && at == end;
}

}  // namespace mote::convert
