// SPDX-License-Identifier: Apache-2.0
//
// Where a decoder's graph can be smoothed without an operation: what matrices read, quantized, and the
// weights that it is a multiple of, column by column.
//
//   a norm                  its weight and bias
//   activation(gate) * up   the rows and biases of the matrix that makes `up`
//
// The latter only before matrices of 8 bits: of fewer, rounding columns that differ more in size costs more
// than it saves.
#pragma once

#include <set>
#include <vector>

#include "converter/graph.h"

namespace mote::convert {

/// An input of matrices. Dividing what makes a column and multiplying the matrices' column by the same number
/// changes nothing but roundings.
struct SmoothedInput {
  std::set<uint32_t> quantizations;  // nodes of the graph
  std::set<size_t> readers;          // the matrices
  uint32_t columns = 0;

  // The places that are divided for column k: row first + k of the matrix, element first + k of the vectors.
  // Weights, -1 for none.
  int32_t matrix = -1;
  std::vector<int32_t> vectors;
  uint32_t first = 0;
};

/// All of the graph's first program that rounds for matrices alone, and whose weights are used once and are
/// no tables. Matrices that are read exactly, even in parts, are left alone, and so is what makes their
/// inputs.
std::vector<SmoothedInput> find_smoothed_inputs(const Graph& graph);

}  // namespace mote::convert
