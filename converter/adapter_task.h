// SPDX-License-Identifier: Apache-2.0
//
// Changes that an adapter makes to a model's config.
#pragma once

#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// Names a model of the head that an adapter has for peft's task ("SEQ_CLS"), whose tensors have these
/// shapes, in the config's architectures. Labels that the config names but the head does not have are left
/// out, with a note.
void set_adapter_task(Source& source, const std::string& task,
                      const std::vector<std::vector<uint64_t>>& shapes);

/// Sets the vocabulary of a config where an adapter's embedding has other rows than the model's.
void set_adapter_vocabulary(Source& source, uint64_t before, uint64_t after);

}  // namespace mote::convert
