// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/pictures.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/tensor_set.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

struct Sides {
  uint32_t height, width;
};

/// A number, or a list of height and width.
Sides read_sides(Config& config, const std::string& key, uint32_t fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr || !value->is_array()) {
    const uint32_t side = config.size(key, 1, kMaxSize, fallback);
    return {side, side};
  }
  if (value->size() != 2) config.refuse_value(key, value, "a number, or a list of two");
  uint32_t sides[2];
  for (size_t i = 0; i < 2; ++i) {
    const nlohmann::json one = {{key, (*value)[i]}};
    sides[i] = config.inner(one, "").size(key, 1, kMaxSize);
  }
  return {sides[0], sides[1]};
}

}  // namespace

PictureFormat read_picture_format(Config& config, uint32_t image_size, uint32_t patch_size, bool fills_up) {
  const Sides image = read_sides(config, "image_size", image_size);
  const Sides patch = read_sides(config, "patch_size", patch_size);
  if (patch.height != patch.width) config.refuse("patch_size: patches that are no squares are not supported");
  PictureFormat format;
  format.patch = patch.height;
  if (image.height < format.patch || image.width < format.patch)
    config.refuse("image_size {} x {} is less than patch_size {}", image.height, image.width, format.patch);
  if (fills_up && (image.height % format.patch != 0 || image.width % format.patch != 0))
    config.refuse("image_size {} x {} would be filled up to patches of {}, which is not supported",
                  image.height, image.width, format.patch);
  // Pixels at the right and lower edge that fill no patch have no part in the original's result (YOLOS).
  format.height = image.height / format.patch * format.patch;
  format.width = image.width / format.patch * format.patch;
  format.channels = config.size("num_channels", 1, 4, 3);
  if (uint64_t{format.height / format.patch} * (format.width / format.patch) > kMaxSize)
    config.refuse("image_size {} x {} has too many patches", image.height, image.width);
  return format;
}

uint32_t read_square_side(Config& config, const char* key, uint32_t fallback) {
  const uint32_t count = config.size(key, 1, 1u << 16, fallback);
  const auto side = static_cast<uint32_t>(std::lround(std::sqrt(static_cast<double>(count))));
  if (side * side != count) config.refuse("{} {} is no square", key, count);
  return side;
}

void set_rows(TransformerSpec& spec) {
  PictureSpec& picture = spec.picture;
  for (const LearnedRows& rows : picture.before) picture.format.before += rows.rows;
  for (const LearnedRows& rows : picture.after) picture.format.after += rows.rows;
  spec.context = picture.format.rows();
  spec.vocab = 1;
  spec.without_tokenizer = true;
  spec.tied_embedding = false;
}

std::vector<float> read_values(const Source& source, const std::string& name, uint32_t count) {
  return TensorSet(source).table(name, 1, count);
}

}  // namespace mote::convert
