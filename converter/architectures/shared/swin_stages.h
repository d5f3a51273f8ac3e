// SPDX-License-Identifier: Apache-2.0
//
// Swin's stages over a grid of patches, which other models have too.
#pragma once

#include <string>
#include <vector>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// The grid of the first stage, and the keys, defaults and names of a model's class.
struct SwinStages {
  std::string layers;      // starts the names of weights, before a stage's number
  uint32_t rows, columns;  // of patches, of any size the most
  bool follows_tokens;     // the first stage's rows are tokens
  const char* size_key;    // that the grid is of
  const char* width_key;   // of the first stage
  const char* heads_key;   // of each stage
  uint32_t width, window;  // by default
  std::vector<uint32_t> heads;
  std::string positions = {};  // whole: of what use_absolute_embeddings adds; empty: the class has none
  bool any_size = false;       // the grid is of each picture
};

/// Adds a layer for each stage to the spec, whose width becomes the last one's. Of one size, refuses grids
/// that windows or joined patches would have to fill up.
void add_swin_stages(Config& config, const SwinStages& stages, TransformerSpec& spec);

/// Reads layer_norm_eps, and refuses all but the one that some of the norms have always.
void set_swin_norms(Config& config, TransformerSpec& spec);

}  // namespace mote::convert
