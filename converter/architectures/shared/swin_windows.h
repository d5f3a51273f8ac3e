// SPDX-License-Identifier: Apache-2.0
//
// The windows of Swin's stages: the order that their rows have, what is added to scores inside them, and the
// rows that fours of patches become. Of one size of pictures they are tables; of any size they follow from
// each picture's patches in the run (kernels/grid_ops.h).
#pragma once

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// The sizes and names that a stage's blocks share.
struct SwinStage {
  uint32_t width, heads, ffn_width;
  uint32_t rows, columns;  // of patches
  uint32_t window;
  uint32_t blocks;
  bool joins;  // its patches, by fours, at its end
  bool qkv_bias;
  Activation activation;
  std::string source, label;  // start the names
  uint32_t every = 1;         // of a picture's patches, in a line, that one of the stage's stands for
  uint32_t least = 0;         // patches on each side of pictures of any size; 0: they have one

  uint32_t patches() const { return rows * columns; }
  uint32_t area() const { return window * window; }
  bool any_size() const { return least != 0; }
  /// Returns the shift of every other block.
  uint32_t shift() const { return !any_size() && std::min(rows, columns) <= window ? 0 : window / 2; }
  GridPlaces places() const { return {1, every}; }
  GridPlaces filled_up() const { return {window, window * every}; }
};

/// Makes rows of a stage's patches those of its windows, shifted; of any size filled up with zeros.
View rows_of_windows(TransformerBuilder& builder, const SwinStage& stage, uint32_t shift, View in);
/// Makes rows of windows those of the stage's patches again.
View rows_of_patches(TransformerBuilder& builder, const SwinStage& stage, uint32_t shift, View in);

/// Builds attention of rows of windows, whose columns are queries, keys and values. `table`: the name of the
/// biases by distance.
View attend_in_windows(TransformerBuilder& builder, const SwinStage& stage, const std::string& label,
                       const std::string& table, uint32_t shift, View qkv);

/// Puts four neighbours side by side, column by column; from now on rows are these.
View join_fours(TransformerBuilder& builder, const SwinStage& stage, View in);

}  // namespace mote::convert
