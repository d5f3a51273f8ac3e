// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of one operation of a program.
#pragma once

#include <cstdint>
#include <string>

#include "schema/block_formats.h"
#include "tools/mote/file_types.h"

namespace mote::cli {

/// The rows and positions that an operation is run over.
struct OpRun {
  uint64_t rows;  // of the operation's stream
  uint64_t seen;  // positions that a row's attention sees, on average, windows aside
  DType kv;
};

struct OpWork {
  std::string kind;            // the same for operations that do the same: "Linear f16 1536 x 576"
  uint64_t bytes = 0;          // of all operands, each once; keys and values once for the rows of a work unit
  uint64_t multiply_adds = 0;  // of linear layers and attention
  bool integer = false;
};

/// Returns the work of an operation of the model's program.
OpWork op_work(const file::Model& model, const file::Program& program, const file::Op& op, const OpRun& run);

/// The stream that it has a row for, of the program's.
uint32_t op_stream(const file::Model& model, const file::Program& program, const file::Op& op);

}  // namespace mote::cli
