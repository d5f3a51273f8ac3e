// SPDX-License-Identifier: Apache-2.0
//
// XGLM (Lin et al. 2021): sines for positions, which the file does not have, from row 2 on, and an embedding
// that is scaled by the root of the width.
#include <cmath>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

constexpr uint32_t kOffset = 2;

/// [context, width], the sines of a row before its cosines, in f32 as the original computes them. The row of
/// the padding id is 0.
std::vector<float> sines(uint32_t context, uint32_t width, int32_t padding) {
  charge_table({context, width});
  const uint32_t half = width / 2;
  std::vector<float> table(size_t{context} * width);
  const float step = static_cast<float>(std::log(10000.0) / (half - 1.0));
  for (uint32_t row = 0; row < context; ++row) {
    if (static_cast<int64_t>(row) + kOffset == padding) continue;
    for (uint32_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(row + kOffset) * std::exp(static_cast<float>(i) * -step);
      table[size_t{row} * width + i] = std::sin(angle);
      table[size_t{row} * width + half + i] = std::cos(angle);
    }
  }
  return table;
}

}  // namespace

TransformerSpec read_xglm(const Source& source, Config& config) {
  const std::string base = base_of(source, "model.");
  TransformerSpec spec = read_gpt_like(config, base, "xglm");
  if (config.flag("scale_embedding", true))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  const int32_t padding = config.token_id("pad_token_id", kMaxSize, 1);
  spec.position_table = sines(spec.context, spec.width, padding);
  config.value("decoder_start_token_id");
  spec.names.ignored = {"embed_positions.weights"};
  return spec;
}

}  // namespace mote::convert
