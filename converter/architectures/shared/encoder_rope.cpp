// SPDX-License-Identifier: Apache-2.0
//
// RoPE of encoders whose config class has a theta of its own for configs that say none.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

RopeSpec plain_rope(const Config& config, uint32_t head_dim, double theta) {
  if (head_dim % 2 != 0) config.refuse("head_dim {} is odd and cannot be rotated", head_dim);
  RopeSpec rope;
  for (uint32_t i = 0; i < head_dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(head_dim);
    rope.frequencies.push_back(1.0f / static_cast<float>(std::pow(theta, exponent)));
  }
  return rope;
}

RopeSpec read_rope_or(Config& config, uint32_t head_dim, uint32_t context, double theta) {
  return read_rope(config, head_dim, context, {}, {.theta = theta});
}

}  // namespace mote::convert
