// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/kernel_test.h"

namespace mote::testing {

/// What attention is asked for, of so many heads and rows.
struct AttentionCase {
  uint32_t rows, ratio, kv_heads, key_dim, context;  // the last row is at position context - 1
  uint32_t window = 0;
  Edge edge = Edge::end;
  bool two_sequences = false;  // rows alternate between sequence 0 and 1
  bool bidirectional = false;
  bool bias = false;
  uint32_t value_dim = 0;  // 0: as key_dim
  ScoreKind score = ScoreKind::scaled;
  bool sinks = false;
  uint32_t sides = 0;
  bool relative_keys = false, relative_queries = false;
  uint32_t block = 0, random_blocks = 0;
  uint32_t globals = 0;         // with `sides`: every so many positions there is one of a global token
  bool global_queries = false;  // without `sides`: only rows of such positions attend
  bool row_bias = false;        // the bias is each row's own
  bool by_position = false;     // the bias has a row for each position of a query
  uint32_t group = 0;           // with a bias by places in it
  bool windows = false;         // of which there are four kinds, each with a bias of its own
};

/// A key, value or query of a head as bytes.
struct HeadBytes {
  float scale;
  std::vector<int8_t> q;
};
inline HeadBytes bytes_of(const float* x, uint32_t width) {
  float largest = 0.0f;
  for (uint32_t e = 0; e < width; ++e) largest = isnan(x[e]) ? INFINITY : fmaxf(largest, fabsf(x[e]));
  HeadBytes bytes = {isinf(largest) ? NAN : largest / 127.0f, std::vector<int8_t>(width)};
  const float inverse = isinf(largest) || largest == 0.0f ? 0.0f : 127.0f / largest;
  for (uint32_t e = 0; e < width; ++e) {
    if (inverse != 0.0f) bytes.q[e] = static_cast<int8_t>(nearbyintf(x[e] * inverse));
  }
  return bytes;
}

}  // namespace mote::testing
