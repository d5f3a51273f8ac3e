// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a picture of any format: read and prepared by steps that the last byte chooses, with small
// limits. The byte before it chooses a size, of models that take any.
#include "host/base/error.h"
#include "host/media/pixel_values.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::pictures;

namespace {

constexpr uint32_t kSide = 24, kPatch = 4, kMostRows = 100;

/// A model of pictures of 24 x 24 pixels, or of tiles of so many, with such a first step.
mote_picture_info model_of(mote_picture_step_kind kind) {
  static const float mean[] = {0, 0, 0}, deviation[] = {1, 1, 1};
  mote_picture_info info{};
  info.height = info.width = kSide;
  info.channels = kColours;
  info.patch = kPatch;
  info.merge = 1;
  const auto add = [&](mote_picture_step step) { info.steps[info.step_count++] = step; };
  add({kind, 3, kSide, kSide, kPatch, kSide * kSide, 4 * kSide * kSide, 200.0f, nullptr, nullptr});
  if (kind == MOTE_PICTURE_RESIZE_SHORTER)
    add({MOTE_PICTURE_CROP, 0, kSide, kSide, 1, 0, 0, 0, nullptr, nullptr});
  if (kind == MOTE_PICTURE_RESIZE_LONGER) {
    info.steps[0].height = info.steps[0].most = 2 * kSide;
    add({MOTE_PICTURE_TILE, 3, kSide, 0, 1, 0, 0, 0, nullptr, nullptr});
  }
  add({MOTE_PICTURE_RESCALE, 0, 0, 0, 1, 0, 0, 1.0f / 255, nullptr, nullptr});
  add({MOTE_PICTURE_NORMALIZE, 0, 0, 0, 1, 0, 0, 0, mean, deviation});
  return info;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr Limits kLimits{1 << 20, 8 << 20};
  constexpr mote_picture_step_kind kKinds[] = {MOTE_PICTURE_RESIZE_SHORTER, MOTE_PICTURE_RESIZE,
                                               MOTE_PICTURE_RESIZE_BOUNDED, MOTE_PICTURE_RESIZE_EVENLY,
                                               MOTE_PICTURE_RESIZE_PIXELS,  MOTE_PICTURE_RESIZE_LONGER,
                                               MOTE_PICTURE_RESIZE_PATCHES};
  mote_picture_info info = model_of(kKinds[size == 0 ? 0 : data[size - 1] % std::size(kKinds)]);
  const uint8_t chosen = size < 2 ? 0 : data[size - 2];
  constexpr const char* kSizes[] = {"own", "24x16", "longest=32", "shortest=20", "8x400", "13x24"};
  const std::optional<WantedSides> wanted =
      chosen % 7 == 6 ? std::nullopt : read_wanted_sides(kSizes[chosen % 7]);
  try {
    if (chosen >= 128) {
      info.any_size = 1;
      info.most_rows = kMostRows;
      const SizedValues sized =
          sized_values(rows_of_file({reinterpret_cast<const std::byte*>(data), size}, "fuzz", kLimits), info,
                       wanted, kLimits);
      if (sized.values.size() != size_t{kColours} * sized.height * sized.width) __builtin_trap();
      if (sized.height / kPatch * (sized.width / kPatch) > kMostRows) __builtin_trap();
      return 0;
    }
    const PictureParts parts =
        picture_parts({reinterpret_cast<const std::byte*>(data), size}, "fuzz", info, kLimits);
    [[maybe_unused]] static volatile size_t sink;
    sink = parts.values.size();
  } catch (const mote::convert::Error&) {
  }
  return 0;
}
