// SPDX-License-Identifier: Apache-2.0
//
// What the architectures of pictures share.
#pragma once

#include <initializer_list>

#include "converter/architectures/architecture.h"

namespace mote::convert {

/// The size of pictures and of patches, by the config's image_size, patch_size and num_channels. Of a
/// model that `fills_up` the last patches, whole ones alone are supported; others leave pixels out.
PictureFormat read_picture_format(Config& config, uint32_t image_size, uint32_t patch_size,
                                  bool fills_up = false);

/// DINOv2's layers, whose weights' names begin with `base`.
TransformerSpec read_dinov2_layers(Config& config, const std::string& base);

/// Rows before and behind those of patches: fills the format's numbers and the context, which has all of
/// them.
void set_rows(TransformerSpec& spec);

/// post_norm_names of a layer whose norms come first.
LayerNames pre_norm_names(const std::string& prefix, const PostNormNames& names);

/// Marks keys as known that change nothing of what is computed.
void know(Config& config, std::initializer_list<const char*> keys);

/// Layer norms with biases.
void set_layer_norms(Config& config, double eps, TransformerSpec& spec);

/// [rows, cols] of a tensor, whatever its shape; for what the config's reader computes with.
std::vector<float> read_values(const Source& source, const std::string& name, uint32_t count);

/// How preprocessor_config.json, if the source has one, makes pixel values. Their size is the model's, or
/// where it resizes its positions, becomes the model's; throws Error for what is not supported.
void read_preprocessor(const Source& source, TransformerSpec& spec, std::vector<std::string>& notes);

}  // namespace mote::convert
