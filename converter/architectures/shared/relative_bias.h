// SPDX-License-Identifier: Apache-2.0
//
// Biases of attention scores by the distance of key and query in buckets (Raffel et al. 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

struct RelativeBuckets {
  uint32_t count = 32;      // rows of the table
  uint32_t farthest = 128;  // distances from there on share a bucket
  bool both_sides = true;   // keys behind the query have half of the buckets; else none
};

/// [heads, 2 context - 1] by key - query + context - 1, of a table [buckets, heads]. Throws Error for a table
/// that is missing or of another shape.
std::vector<float> relative_bias(const Source& source, const std::string& table, uint32_t heads,
                                 uint32_t context, const RelativeBuckets& buckets);

}  // namespace mote::convert
