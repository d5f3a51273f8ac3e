// SPDX-License-Identifier: Apache-2.0
//
// Rows of several sequences in any mix, and a state of a fixed size, for tests of the kernels that carry one.
#pragma once

#include <functional>

#include "tests/support/kernel_test.h"

namespace mote::testing {

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

/// Rows from `first` on.
inline ConstRows from(const GuardedRows& rows, uint32_t first) {
  return {rows.const_view()[first], rows.const_view().stride_bytes};
}
inline Rows to(const GuardedRows& rows, uint32_t first) {
  return {rows.view()[first], rows.view().stride_bytes};
}

/// A text of one sequence, in operands with a row for each of its tokens.
template <class Args>
struct RecurrentCase {
  /// Args of a call over the rows of these operands, in one lane.
  std::function<Args(const FixedStateView&, const SequenceRows&, const std::vector<ConstRows>& in, Rows out)>
      args;
  uint32_t heads, rows, cols;  // of the state
  uint32_t out_width;
  uint32_t key_dim = 0, value_dim = 0;  // of the scratch; 0: rows and cols
  std::vector<GuardedRows> in;

  /// Gives it operands of these widths, with numbers from -2 to 2.
  void fill_operands(uint32_t row_count, const std::vector<uint32_t>& widths, Random& random) {
    for (const uint32_t width : widths) {
      in.emplace_back(row_count, width, Edge::end);
      in.back().fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    }
  }

  uint32_t length() const { return static_cast<uint32_t>(in[0].rows()); }

  void call(const KernelEntry& entry, const Args& of_call, const MixedRows& mixed, Split split) const {
    ScratchShape shape{};
    shape.key_dim = key_dim != 0 ? key_dim : rows;
    shape.value_dim = value_dim != 0 ? value_dim : cols;
    run_kernel(entry, of_call, mixed.sequences() * of_call.units_of_sequence(), split,
               static_cast<size_t>(entry.scratch_bytes(shape)));
  }

  /// The outputs, in calls of `size` rows each.
  GuardedRows run(const KernelEntry& entry, uint32_t size, Split split = Split::whole) const {
    GuardedRows out(length(), out_width, Edge::end);
    FixedSlots slots(1, heads, rows, cols);
    for (uint32_t begin = 0; begin < length(); begin += size) {
      const uint32_t count = std::min(size, length() - begin);
      const MixedRows mixed(std::vector<uint32_t>(count, 0), {begin});
      std::vector<ConstRows> operands;
      for (const GuardedRows& operand : in) operands.push_back(from(operand, begin));
      call(entry, args(slots.view(), mixed.view(), operands, to(out, begin)), mixed, split);
      slots.commit();
    }
    return out;
  }
};

/// Calls of any size and any split of their units give the bits of one.
template <class Args>
void check_calls_of_any_size(const KernelEntry& entry, const RecurrentCase<Args>& c) {
  const GuardedRows whole = c.run(entry, c.length());
  for (uint32_t size = 1; size <= c.length(); ++size) {
    for (const Split split : kSplits) {
      CAPTURE(size);
      check_same_bits(whole, c.run(entry, size, split));
    }
  }
}

/// Rows of two sequences in any order, which lie in lanes, give the bits of the same rows alone; a third
/// sequence, which has none, keeps what it had.
template <class Args>
void check_mixed_sequences(const KernelEntry& entry, const RecurrentCase<Args>& c) {
  std::vector<uint32_t> sequences;  // 2 has the whole text, 0 its first rows
  for (uint32_t t = 0; t < c.length(); ++t) {
    if (t % 3 == 1) sequences.push_back(0);
    sequences.push_back(2);
  }
  const auto count = static_cast<uint32_t>(sequences.size());
  const MixedRows mixed(sequences, {0, 0, 0});
  size_t widest = c.out_width;
  for (const GuardedRows& operand : c.in) widest = std::max(widest, operand.width());
  const Lanes lanes{5, 7 * align_up(widest * sizeof(float), kAlignment)};
  const auto in_lanes = [&](size_t width) {
    return GuardedRows(7 * (count / 5 + 1), std::max(width, widest), Edge::start);
  };
  std::vector<GuardedRows> operands;
  std::vector<ConstRows> views;
  for (const GuardedRows& operand : c.in) {
    operands.push_back(in_lanes(operand.width()));
    views.push_back({operands.back()[0], align_up(operand.width() * sizeof(float), kAlignment)});
  }
  const GuardedRows out = in_lanes(c.out_width);
  const Rows outputs{out[0], align_up(c.out_width * sizeof(float), kAlignment)};
  const GuardedRows alone = c.run(entry, c.length());
  GuardedRows expected(count, c.out_width, Edge::start), actual(count, c.out_width, Edge::start);
  std::vector<uint32_t> seen(3);
  for (uint32_t row = 0; row < count; ++row) {
    const uint32_t t = seen[sequences[row]]++;
    for (size_t i = 0; i < operands.size(); ++i) {
      float* to = const_cast<float*>(lanes.row(views[i], row));
      memcpy(to, c.in[i][t], c.in[i].width() * sizeof(float));
    }
    memcpy(expected[row], alone[t], c.out_width * sizeof(float));
  }
  FixedSlots slots(3, c.heads, c.rows, c.cols);
  Args args = c.args(slots.view(), mixed.view(), views, outputs);
  args.lanes = lanes;
  c.call(entry, args, mixed, Split::ones_backwards);
  for (uint32_t row = 0; row < count; ++row)
    memcpy(actual[row], lanes.row(outputs, row), c.out_width * sizeof(float));
  check_same_bits(expected, actual);
  slots.commit();
  TEST_ASSERT_FLOAT_IS_NAN(slots.kept(1)[0]);
}

/// Within what the rounding of each operation makes. exact[t][i] is a Bounded.
template <class Exact>
void check_bounded(const GuardedRows& actual, const Exact& exact) {
  check_within(
      actual, [&](size_t t, size_t i) { return exact[t][i].value; },
      [&](size_t t, size_t i) { return exact[t][i].error; });
}

/// A Case(heads, groups of them, rows and columns of the state, with or without options) is within its
/// roundings of its exact(), for any numbers.
template <class Case>
void check_heads_of_any_numbers(Op op) {
  each_kernel(op, [](const KernelEntry& entry) {
    constexpr uint32_t kShapes[][4] = {
        {1, 1, 1, 1}, {2, 1, 5, 3}, {6, 3, 16, 8}, {4, 4, 33, 17}, {4, 4, 17, 33}};
    for (const auto& [heads, groups, rows, cols] : kShapes) {
      for (const bool options : {false, true}) {
        CAPTURE(heads, groups, rows, cols, options);
        const Case c(heads, groups, rows, cols, options);
        check_bounded(c.run.run(entry, 4), c.exact());
      }
    }
  });
}

}  // namespace mote::testing
