// SPDX-License-Identifier: Apache-2.0
//
// The functions that the architectures of pictures share.
#pragma once

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// The size of pictures and of patches, by the config's image_size, patch_size and num_channels. A model that
/// `fills_up` the last patches is supported with whole patches alone; other models leave pixels out.
PictureFormat read_picture_format(Config& config, uint32_t image_size, uint32_t patch_size,
                                  bool fills_up = false);

/// DINOv2's layers, whose weights' names begin with `base`.
TransformerSpec read_dinov2_layers(Config& config, const std::string& base);

/// The side of a square of so many patches or positions as the key says.
uint32_t read_square_side(Config& config, const char* key, uint32_t fallback);

/// Rows before and behind those of patches: fills the format's numbers and the context, which has all of
/// them.
void set_rows(TransformerSpec& spec);

/// [rows, cols] of a tensor, whatever its shape; for what the config's reader computes with.
std::vector<float> read_values(const Source& source, const std::string& name, uint32_t count);

/// Makes the file take pictures of any size of at most as many patches as the user's has; throws Error where
/// the model's positions cannot be resized.
void take_any_size(const Source& source, TransformerSpec& spec);

/// Reads how preprocessor_config.json or processor_config.json, if the source has one, makes pixel values.
/// Their size is the model's, or where it resizes its positions, becomes the model's; throws Error for what
/// is not supported.
void read_preprocessor(const Source& source, TransformerSpec& spec, std::vector<std::string>& notes);

}  // namespace mote::convert
