// SPDX-License-Identifier: Apache-2.0
//
// A temporary model file, to run a graph with: no names, no self test.
#pragma once

#include <functional>

#include "converter/graph.h"
#include "converter/tokenizers/tables.h"
#include "host/base/output_file.h"

namespace mote::convert {

/// Writes the whole file; `tokenizer` may be null. `progress` is called with the share written. Throws Error.
void write_model(const Graph& graph, const TokenizerTables* tokenizer, OutputFile& file,
                 const std::function<void(double share)>& progress);

}  // namespace mote::convert
