// SPDX-License-Identifier: Apache-2.0
//
// Named arrays in and out of mote forward, as .safetensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace mote::cli {

template <class T>
struct Array {
  std::vector<uint64_t> shape;
  std::vector<T> values;
};

/// The whole-number arrays of a file (I64, I32 or BOOL, say ids and masks); others are left unread. Throws
/// convert::Error.
std::map<std::string, Array<int64_t>> read_integers(const std::string& path);

using OutputTensors = std::map<std::string, std::variant<Array<float>, Array<int64_t>>>;

/// As F32 and I64; under a temporary name, renamed when complete. Throws convert::Error.
void write_tensors(const std::string& path, const OutputTensors& tensors);

}  // namespace mote::cli
