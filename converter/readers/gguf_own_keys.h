// SPDX-License-Identifier: Apache-2.0
//
// The helpers that functions which read a family's own metadata share.
#pragma once

#include <string_view>

#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_file.h"

namespace mote::convert {

/// Returns the number of layers that the config has by now.
uint32_t gguf_layers_of(const FamilyInput& input);

/// Sets layer_types: those that the file marks slide, else all but every `period`-th; `first`: the full one
/// of so many is the first, not the last.
void set_gguf_layer_windows(const FamilyInput& input, uint32_t period, bool first = false);

/// Sets the RoPE of layers with a window.
void set_gguf_local_rope(const FamilyInput& input);

/// Fails where attention.value_length is there and is not `width`.
void require_gguf_value_length(const FamilyInput& input, uint32_t width);

bool has_tensor_ending(const GgufFile& file, std::string_view end);

}  // namespace mote::convert
