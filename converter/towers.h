// SPDX-License-Identifier: Apache-2.0
//
// The model of texts inside of a larger one: its own config is an object of the whole one's, and the names of
// its weights begin with what stands around it.
#pragma once

#include <functional>
#include <string>

#include "converter/source.h"

namespace mote::convert {

/// Makes a source whose model_type is a larger model with a known one of texts in it (Gemma 3, LLaVA,
/// Qwen2-VL) a source of the model of texts alone, and notes it. Others stay as they are. Throws Error where
/// the user wants another part.
void enter_text_tower(Source& source);

/// Takes what wraps a model (DistributedDataParallel's "module.", "language_model.") off the names of its
/// tensors: of the prefixes that they have, the shortest with which `fits` is true. Returns the prefix;
/// empty: none fits, and the tensors are as they were.
std::string unwrap_tensors(Source& source, const std::function<bool()>& fits);

}  // namespace mote::convert
