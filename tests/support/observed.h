// SPDX-License-Identifier: Apache-2.0
//
// What a caller sees of a session, call by call, so that two sessions can be compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/file/xxh64.h"
#include "tests/support/aligned_bytes.h"

namespace test {

class Observed {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    call_.update(&value, sizeof value);
  }

  /// One NaN is as good as another: which one a sum gives depends on the order of its operands.
  void floats(const float* values, size_t count) {
    ++rows_;
    for (size_t i = 0; i < count; ++i) {
      const float value = std::isnan(values[i]) ? NAN : values[i];
      call_.update(&value, sizeof value);
    }
  }

  /// A snapshot but for its hash. What may be a NaN in a cache of any type, or an infinity, is one of all of
  /// them.
  void state(const AlignedBytes& bytes) {
    std::vector<uint16_t> halves((bytes.size() - 8) / 4 * 2);
    std::memcpy(halves.data(), bytes.data(), halves.size() * sizeof halves[0]);
    for (size_t i = 0; i < halves.size(); ++i) {
      if ((halves[i] & 0x7C00) != 0x7C00 || (halves[i] & 0x3FF) == 0) continue;
      if (i % 2 == 1 && (halves[i] & 0x7F80) == 0x7F80) halves[i - 1] = 0;  // the lower half of a float
      halves[i] = 0x7FFF;
    }
    call_.update(halves.data(), halves.size() * sizeof halves[0]);
  }

  /// What follows may differ between sessions that are to agree.
  void stop() { stopped_ = true; }
  void end_call() {
    if (!stopped_) calls_.push_back(call_.digest());
    call_ = mote::Xxh64();
  }

  /// Whether both saw the same in all calls before one of them stopped.
  bool agrees(const Observed& other) const {
    const size_t both = std::min(calls_.size(), other.calls_.size());
    const bool whole = (stopped_ || calls_.size() == both) && (other.stopped_ || other.calls_.size() == both);
    return whole &&
           std::equal(calls_.begin(), calls_.begin() + static_cast<ptrdiff_t>(both), other.calls_.begin());
  }
  /// Rows of floats that were read.
  size_t rows() const { return rows_; }

 private:
  mote::Xxh64 call_;
  std::vector<uint64_t> calls_;
  size_t rows_ = 0;
  bool stopped_ = false;
};

}  // namespace test
