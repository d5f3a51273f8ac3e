// SPDX-License-Identifier: Apache-2.0
//
// Rows of several sequences in any mix, and a state of a fixed size, for tests of the kernels that carry one.
#pragma once

#include "tests/support/kernel_test.h"

namespace mote::test {

/// Which sequence each row of a call is of, and where each sequence is in its text.
class MixedRows {
 public:
  /// `sequences`: of each row; `before`: tokens that each sequence has before the call.
  MixedRows(const std::vector<uint32_t>& sequences, const std::vector<uint32_t>& before)
      : first_(before.size(), kNoRow), next_(sequences.size(), kNoRow) {
    std::vector<uint32_t> last(before.size()), added(before.size());
    for (uint32_t row = 0; row < sequences.size(); ++row) {
      const uint32_t s = sequences[row];
      positions_.push_back(static_cast<int32_t>(before[s] + added[s]));
      if (added[s]++ == 0) {
        present_.push_back(s);
        first_[s] = row;
      } else {
        next_[last[s]] = row;
      }
      last[s] = row;
    }
  }
  SequenceRows view() const { return {present_.data(), first_.data(), next_.data(), positions_.data()}; }
  uint32_t sequences() const { return static_cast<uint32_t>(present_.size()); }

 private:
  std::vector<uint32_t> present_, first_, next_;
  std::vector<int32_t> positions_;
};

/// Slots that begin as NaN, so that reading what no call has written shows.
class FixedSlots {
 public:
  FixedSlots(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t cols)
      : floats_(align_up(size_t{heads} * rows * cols, 16)),
        current_(batch, 0),
        slots_(floats_ * 2 * batch * sizeof(float), Edge::end),
        heads_(heads),
        rows_(rows),
        cols_(cols) {
    for (size_t i = 0; i < floats_ * 2 * batch; ++i) slots_.data<float>()[i] = NAN;
  }
  FixedStateView view() const {
    return {slots_.data<float>(), current_.data(), floats_, heads_, rows_, cols_, 0};
  }
  void commit() {
    for (uint8_t& which : current_) which ^= 1;
  }
  /// What a sequence keeps.
  const float* kept(uint32_t sequence) const { return view().before(sequence); }

 private:
  size_t floats_;
  std::vector<uint8_t> current_;
  GuardedBuffer slots_;
  uint32_t heads_, rows_, cols_;
};

/// A text of `rows` rows of one sequence, cut into calls of so many rows each. run(begin, end, rows) computes
/// a call, after which the states are committed.
template <class Run>
void in_calls(uint32_t rows, uint32_t size, FixedSlots& slots, Run run) {
  for (uint32_t begin = 0; begin < rows; begin += size) {
    const uint32_t end = begin + size < rows ? begin + size : rows;
    run(begin, end, MixedRows(std::vector<uint32_t>(end - begin, 0), {begin}));
    slots.commit();
  }
}

/// Rows from `first` on.
inline ConstRows from(const GuardedRows& rows, uint32_t first) {
  return {rows.const_view()[first], rows.const_view().stride_bytes};
}
inline Rows to(const GuardedRows& rows, uint32_t first) {
  return {rows.view()[first], rows.view().stride_bytes};
}

}  // namespace mote::test
