// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of a model: bytes to read and multiply-adds to do.
#pragma once

#include "runtime/file/file.h"
#include "schema/block_formats.h"

namespace mote::cli {

/// Returns the bytes of the matrices and vectors that a run reads in full, whatever its rows, and of the
/// experts that `rows` rows choose, if no two choose the same; a lookup's row is too little to count.
uint64_t weight_bytes(const file::Model& model, uint64_t rows);

/// Keys and values that attention reads for a token at this position, and states of a fixed size, which are
/// read and written. `source` are the rows of a source, where attention reads keys and values of one.
uint64_t state_bytes(const file::Model& model, uint64_t position, uint64_t source, DType type);

/// Multiply-adds of the linear layers of a program, chosen experts included.
struct LinearWork {
  double per_token = 0;   // each token of a run
  double per_output = 0;  // each row or sequence whose output is wanted
  bool integer = false;   // most of them are of integers
};
LinearWork linear_work(const file::Model& model, uint32_t program);

}  // namespace mote::cli
