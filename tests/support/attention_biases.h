// SPDX-License-Identifier: Apache-2.0
//
// Biases by the place in a group, which are those by distance of a case.
#pragma once

#include <cmath>

#include "tests/support/attention_case.h"
#include "tests/support/guarded_buffer.h"

namespace mote::testing {

/// Returns the kind of the window that a position is in.
inline uint32_t window_kind(const AttentionCase& c, uint32_t position) {
  return c.windows ? position / c.group % 4 : 0;
}

/// Returns what the bias of a kind has at a position more than that by distance.
inline float more_of_window(const AttentionCase& c, uint32_t kind, uint32_t position) {
  return c.windows ? 0.5f * static_cast<float>(kind * (position % c.group % 3)) : 0.0f;
}

/// [heads * context, group]; empty where the case has no groups. `by_distance`: [heads, 2 context - 1].
inline GuardedBuffer biases_by_place(const AttentionCase& c, const GuardedBuffer& by_distance,
                                     uint32_t heads) {
  const uint32_t group = c.group, context = c.context;
  GuardedBuffer biases(c.bias ? size_t{heads} * context * group * sizeof(float) : 0, Edge::end);
  for (uint32_t i = 0; i < biases.bytes() / sizeof(float); ++i) {
    const uint32_t head = i / group / context, query = i / group % context;
    const uint32_t key = query / group * group + i % group;  // perhaps behind the last
    biases.data<float>()[i] =
        key < context ? by_distance.data<float>()[head * (2 * context - 1) + key + context - 1 - query] : NAN;
  }
  return biases;
}

/// [4, heads, group, group]; empty where the case has no windows.
inline GuardedBuffer biases_of_windows(const AttentionCase& c, const GuardedBuffer& by_distance,
                                       uint32_t heads) {
  const uint32_t group = c.group, context = c.context;
  GuardedBuffer biases(c.windows ? size_t{4} * heads * group * group * sizeof(float) : 0, Edge::end);
  for (uint32_t i = 0; i < biases.bytes() / sizeof(float); ++i) {
    const uint32_t kind = i / group / group / heads, head = i / group / group % heads;
    const uint32_t query = i / group % group, key = i % group;
    biases.data<float>()[i] =
        by_distance.data<float>()[head * (2 * context - 1) + key + context - 1 - query] +
        more_of_window(c, kind, key);
  }
  return biases;
}

}  // namespace mote::testing
