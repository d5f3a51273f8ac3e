// SPDX-License-Identifier: Apache-2.0
//
// Hands out 64-byte aligned parts of one block in order. Without a block it only counts, so the code that
// lays a session out is also the code that says how many bytes it takes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/block_formats.h"

namespace mote {

class Arena {
 public:
  explicit Arena(void* block) : block_(reinterpret_cast<uintptr_t>(block)) {}

  /// Null while counting.
  template <class T>
  T* take(uint64_t count) {
    T* part = block_ == 0 ? nullptr : reinterpret_cast<T*>(block_ + used_);
    used_ += align_up(count * sizeof(T), kAlignment);
    return part;
  }
  uint64_t used() const { return used_; }

 private:
  uintptr_t block_;
  uint64_t used_ = 0;
};

}  // namespace mote
