// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a pickle, taken one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {

/// All members throw Error where the pickle ends too early.
class PickleBytes {
 protected:
  PickleBytes(std::span<const std::byte> pickle, std::string where)
      : pickle_(pickle), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    fail("{}: the pickle at byte {}: {}", where_, at_, what);
  }

  template <class T>
  T take() {
    if (pickle_.size() - at_ < sizeof(T)) refuse("it ends too early");
    const T value = load<T>(pickle_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  std::string take_text(uint64_t bytes) {
    if (pickle_.size() - at_ < bytes) refuse("it ends too early");
    const std::string text(reinterpret_cast<const char*>(pickle_.data() + at_), bytes);
    at_ += bytes;
    return text;
  }
  std::string take_line() {
    const auto rest = pickle_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    if (end == rest.end()) refuse("it ends too early");
    const std::string line = take_text(static_cast<uint64_t>(end - rest.begin()));
    ++at_;
    return line;
  }

  std::span<const std::byte> pickle_;
  const std::string where_;
  size_t at_ = 0;
};

}  // namespace mote::convert
