// SPDX-License-Identifier: Apache-2.0
//
// The proofs of operations over pictures of any size.
#pragma once

#include "runtime/ops/attention_proofs.h"

namespace mote {

class GridProofs : public AttentionProofs {
 public:
  using AttentionProofs::AttentionProofs;

  /// Proves that a picture's size is given with each where an operation depends on it.
  void of_any_size(bool depends) {
    check(!depends || takes_grids(model_), "pictures of any size, but the file says that they have one");
  }
  /// Places that patches become.
  GridScale scale(uint32_t times, uint32_t every) {
    of_any_size(times != 0);
    const uint64_t line =
        every == 0 ? UINT64_MAX : (uint64_t{context_of(*model_.root, *places_.program)} / every + 1) * times;
    check(times <= kMaxRatio && every <= kMaxRatio && line <= kMaxContext, times, " places for every ", every,
          " patches");
    return {times, every};
  }
  /// Returns the order of the places of rows of tokens, or of a stream by the grid, which is proved.
  GridOrder order(const Operand& rows, uint32_t window, uint32_t shift, const char* what) {
    const GridScale of_stream = grid_of(*places_.program, rows.stream);
    const GridScale scale = rows.kind == file::StreamKind::token ? GridScale{1, 1} : of_stream;
    check(scale.times != 0, what, " has no rows by the picture's size");
    check(window != 0 && scale.times % window == 0 && shift < window, what, " has windows of ", window,
          ", shifted by ", shift, ", of a stream of ", scale.times, " places for every ", scale.every,
          " patches");
    return {scale, window, shift};
  }
};

}  // namespace mote
