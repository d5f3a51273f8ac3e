// SPDX-License-Identifier: Apache-2.0
//
// What an adapter changes of a model besides its weights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// The adapter has a head of its own for peft's task ("SEQ_CLS"), whose tensors have these shapes: the
/// config's architectures name a model of that head. Labels that the config names but the head does not have
/// are left out, with a note.
void set_adapter_task(Source& source, const std::string& task,
                      const std::vector<std::vector<uint64_t>>& shapes);

/// The adapter's embedding has other rows than the model's.
void set_adapter_vocabulary(Source& source, uint64_t before, uint64_t after);

}  // namespace mote::convert
