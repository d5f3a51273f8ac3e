// SPDX-License-Identifier: Apache-2.0
//
// The inputs of mote forward: one file, a segment, may hold several cases, told apart by a prefix of their
// names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::cli {

/// A row without its padding.
struct Sequence {
  std::vector<int32_t> ids;
  std::vector<uint32_t> columns;  // where each was in the row
};

/// input_ids [B, T] of one case.
struct Case {
  std::string prefix;                 // "padded_left.", or ""
  uint32_t columns = 0;               // T
  std::vector<Sequence> sequences;    // B
  std::vector<int64_t> position_ids;  // [B, T], or empty

  uint32_t longest() const;
};

/// The cases of a file: each name "<prefix>input_ids" is one. Throws convert::Error.
std::vector<Case> read_cases(const std::string& path);

/// Throws convert::Error unless the positions given for unmasked tokens are those that mote derives: one
/// after another, for sequence b from lengths[b] on.
void check_positions(const Case& item, const std::vector<uint32_t>& lengths, const std::string& path);

}  // namespace mote::cli
