// SPDX-License-Identifier: Apache-2.0
//
// The GGUF container (versions 2 and 3, little-endian): metadata keys with values, then tensors. Views into
// the file's bytes, which must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// Types of metadata values and of the elements of arrays, as the format numbers them.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, string, array, u64, i64, f64 };

/// Checked to lie inside the file, its elements too.
struct GgufArray {
  GgufType type;  // of the elements
  uint64_t count;
  std::span<const std::byte> bytes;
};

/// Integers of any width are int64_t or, beyond its range, uint64_t; both float types are double.
using GgufValue = std::variant<int64_t, uint64_t, double, bool, std::string_view, GgufArray>;

struct GgufFile {
  std::map<std::string, GgufValue> metadata;
  std::map<std::string, SourceTensor> tensors;  // by GGUF's names
};

/// Every count, length, offset and size checked. `where` names the file in messages. Throws Error.
GgufFile parse_gguf(std::span<const std::byte> file, const std::string& where);

/// Returns the number of files that this is one of; 1 where the file says nothing.
uint64_t split_count(const GgufFile& file);

}  // namespace mote::convert
