// SPDX-License-Identifier: Apache-2.0
//
// A matrix of f32 rows next to an inaccessible page. What lies between the rows is NaN, so that reading it
// shows, and is compared afterwards, so that writing it shows.
#pragma once

#include "kernels/ops.h"
#include "schema/f16.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/unity_style.h"

namespace mote::testing {

class GuardedRows {
 public:
  /// Edge::end: the last column of the last row ends the memory, so rows start at any multiple of 4 bytes.
  /// Edge::start: the first row starts it, 64-byte aligned.
  GuardedRows(size_t rows, size_t width, Edge edge)
      : rows_(rows),
        width_(width),
        stride_bytes_(align_up(width * 4, kAlignment)),
        buffer_(rows == 0 ? 0 : (rows - 1) * stride_bytes_ + width * 4, edge) {
    for (size_t i = 0; i < buffer_.bytes() / 4; ++i) memcpy(buffer_.data() + 4 * i, &kCanary, 4);
  }

  size_t rows() const { return rows_; }
  size_t width() const { return width_; }
  float* operator[](size_t row) const { return view()[row]; }
  Rows view() const { return {buffer_.data<float>(), stride_bytes_}; }
  ConstRows const_view() const { return {buffer_.data<float>(), stride_bytes_}; }

  template <class Value>
  void fill(Value value) {
    for (size_t t = 0; t < rows_; ++t) {
      for (size_t i = 0; i < width_; ++i) (*this)[t][i] = value(t, i);
    }
  }
  void copy_from(const GuardedRows& other) {
    for (size_t t = 0; t < rows_; ++t) memcpy((*this)[t], other[t], width_ * 4);
  }

  /// Fails if anything outside the columns was written.
  void check_gaps() const {
    for (size_t t = 0; t + 1 < rows_; ++t) {
      const char* row = reinterpret_cast<const char*>((*this)[t]);
      for (size_t byte = width_ * 4; byte < stride_bytes_; byte += 4) {
        if (memcmp(row + byte, &kCanary, 4) != 0)
          TEST_FAIL_MESSAGE("written past the last column of row " << t);
      }
    }
  }

 private:
  static constexpr uint32_t kCanary = 0x7FDEAD01;  // a NaN
  size_t rows_, width_, stride_bytes_;
  GuardedBuffer buffer_;
};

/// All bits equal; one NaN is as good as another.
inline void check_same_bits(const GuardedRows& expected, const GuardedRows& actual) {
  for (size_t t = 0; t < expected.rows(); ++t) {
    const std::string difference = unity_style::first_difference(
        expected.width(), expected[t], actual[t],
        [](float e, float a) { return bits_from_f32(e) == bits_from_f32(a) || (isnan(e) && isnan(a)); });
    if (!difference.empty()) TEST_FAIL_MESSAGE("row " << t << ", " << difference);
  }
  actual.check_gaps();
}

/// |actual - expected(t, i)| <= bound(t, i), or both NaN, or the same infinity. NaN is never within a bound.
template <class Expected, class Bound>
void check_within(const GuardedRows& actual, Expected expected, Bound bound) {
  for (size_t t = 0; t < actual.rows(); ++t) {
    for (size_t i = 0; i < actual.width(); ++i) {
      const double e = expected(t, i), a = static_cast<double>(actual[t][i]);
      if (e == a || (isnan(e) && isnan(a)) || fabs(e - a) <= bound(t, i)) continue;
      TEST_FAIL_MESSAGE("row " << t << ", column " << i << ": expected " << e << ", is " << a << ", bound "
                               << bound(t, i));
    }
  }
  actual.check_gaps();
}

}  // namespace mote::testing
