// SPDX-License-Identifier: Apache-2.0
//
// An operation of a program in words.
#pragma once

#include <string>

#include "tools/mote/file_types.h"

namespace mote::cli {

struct OpText {
  std::string name;     // "Linear"
  std::string in, out;  // columns of buffers: "b3[64:128]"
  std::string details;  // weights by name, parameters
};

/// Describes an operation of the model's program.
OpText describe_op(const file::Model& model, const file::Program& program, const file::Op& op);

}  // namespace mote::cli
