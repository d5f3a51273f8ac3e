// SPDX-License-Identifier: Apache-2.0
//
// The parts that BART shares with models that hear and are otherwise made as BART is.
#pragma once

#include <string>
#include <vector>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// [rows, width]: row r has the sines of first + r times each of the frequencies, then the cosines; the
/// angles are of the type that the original computes them in.
template <class Angle>
std::vector<float> bart_sines(uint32_t first, uint32_t rows, uint32_t width, double log_step);
extern template std::vector<float> bart_sines<float>(uint32_t, uint32_t, uint32_t, double);

/// Where norms stand, and what the config class has for keys that are absent.
struct BartLayer {
  bool norms_before;
  const char* activation;
  uint32_t heads = 16, ffn_width = 4096;
};

/// A layer of a side, "encoder" or "decoder", the latter with its attention to the source; the side's name
/// starts the config's keys, and `base` and it those of the weights.
LayerSpec bart_layer(Config& config, const BartLayer& bart, const std::string& base, const std::string& side,
                     uint32_t width);

}  // namespace mote::convert
