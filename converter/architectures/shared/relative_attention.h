// SPDX-License-Identifier: Apache-2.0
//
// Tables of keys and queries by distance (RelativeSpec), which projections of the source give.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace mote::convert {

/// n of tables for texts of at most `context` tokens. Some more than that: rows whose length is near a power
/// of two would share a few lines of the CPU's caches.
inline uint32_t relative_reach(uint32_t context) { return context + 8; }

/// rows weight^T + bias: rows [count, inputs], weight [outputs, inputs], bias [outputs] or empty.
std::vector<float> project_rows(const std::vector<float>& rows, uint32_t inputs,
                                const std::vector<float>& weight, const std::vector<float>& bias);

/// [outputs, 2 reach - 1]: the column of distance d, key - query, is row row_of(d) of rows [count, outputs].
std::vector<float> by_distance(const std::vector<float>& rows, uint32_t outputs, uint32_t reach,
                               const std::function<uint32_t(int32_t)>& row_of);

}  // namespace mote::convert
