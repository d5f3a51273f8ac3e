// SPDX-License-Identifier: Apache-2.0
//
// An encoder's run goes through the layers in passes of whole sequences, so that what lies between operations
// stays in the caches; a batch of many rows would send it to memory and back. Buffers of tokens hold a pass,
// those of selected rows and of sequences the run. Operations that take rows of tokens to rows of another
// unit do their share in each pass (Traits::leaves_tokens); those after them compute the whole run, once.
#pragma once

#include "kernels/families.h"

namespace mote {

/// Rows that a pass of several sequences has at most; a longer sequence is a pass of its own.
inline uint32_t pass_rows(const Tuning& tuning, uint32_t threads) { return tuning.pass_rows * threads; }

/// The first sequence that no longer belongs to the pass that begins with `first`. The rows of sequence i of
/// `count` begin at starts[i] and end at starts[i + 1].
inline uint32_t end_of_pass(const uint32_t* starts, uint32_t first, uint32_t count, uint32_t most_rows) {
  uint32_t end = first + 1;
  while (end < count && starts[end + 1] - starts[first] <= most_rows) ++end;
  return end;
}

}  // namespace mote
