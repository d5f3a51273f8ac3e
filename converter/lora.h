// SPDX-License-Identifier: Apache-2.0
//
// Low-rank adapters (Hu et al. 2021) as peft saves them, merged while rows are read:
//
//   W + strength * alpha / r * B A             r its root with use_rslora
//   m / |W + ...| * (W + ...), row by row      with use_dora: m is lora_magnitude_vector, |.| the row's
//   length
//
// with W [out, in], A [r, in] and B [out, r]; of an embedding W [vocabulary, width], A [r, vocabulary] and B
// [width, r], and of a W [in, out], the product is transposed, and lengths are those of columns.
//
// Biases, modules that are saved whole and rows of tokens take the place of the model's.
#pragma once

#include <filesystem>
#include <string>

#include "converter/source.h"

namespace mote::convert {

/// Merges the adapter in `directory` (adapter_config.json and adapter_model.safetensors or .bin) into the
/// source's tensors. Throws Error, naming what it is about, for a setting that changes the result and is not
/// read, for a tensor of the adapter that fits no weight, and where there is none.
void merge_adapter(Source& source, const std::filesystem::path& directory, float strength);

struct AdapterArgument {
  std::filesystem::path directory;
  float strength;
};
/// "DIR" or "DIR=SCALE". Throws Error for a SCALE that is no finite number.
AdapterArgument parse_adapter(const std::string& text);

}  // namespace mote::convert
