// SPDX-License-Identifier: Apache-2.0
//
// What targets do with the tensors that they have read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "converter/readers/safetensors.h"
#include "converter/source.h"
#include "runtime/file/xxh64.h"

namespace test {

/// Reads the first rows of each. A shape of many short rows must not make this slow.
inline void read_first_rows(const std::map<std::string, mote::convert::SourceTensor>& tensors) {
  constexpr uint64_t kMaxRows = 4, kMaxCols = 1 << 16;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.cols() > kMaxCols) continue;
    const bool is_exact =
        tensor.reader != nullptr ? tensor.reader->has_exact() : mote::convert::has_exact_type(tensor.type);
    std::vector<float> row(tensor.cols());
    for (uint64_t i = 0; i < tensor.rows() && i < kMaxRows; ++i) {
      read_row(tensor, i, row);
      mote::convert::QuantRow exact;
      if (is_exact) read_exact_row(tensor, i, exact);
    }
  }
}

/// Reads every byte.
inline void read_all_bytes(const mote::convert::NamedTensors& tensors) {
  mote::Xxh64 hash;
  for (const auto& [name, tensor] : tensors) hash.update(tensor.bytes.data(), tensor.bytes.size());
  [[maybe_unused]] static volatile uint64_t sink;
  sink = hash.digest();
}

}  // namespace test
