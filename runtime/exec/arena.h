// SPDX-License-Identifier: Apache-2.0
//
// Hands out 64-byte aligned parts of one block in order. Without a block it only counts, so the code that
// lays a session out is also the code that says how many bytes it takes. Under AddressSanitizer a gap that
// must not be touched follows each part.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/exec/saturating.h"
#include "schema/block_formats.h"

#if defined(__SANITIZE_ADDRESS__)
#define MOTE_POISONS_GAPS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOTE_POISONS_GAPS 1
#endif
#endif
#ifdef MOTE_POISONS_GAPS
#include <sanitizer/asan_interface.h>
#endif

namespace mote {

class Arena {
 public:
  enum class Gaps { poisoned, none };

  /// Counts.
  explicit Arena(Gaps gaps = Gaps::poisoned) : gap_bytes_(gaps == Gaps::poisoned ? kGapBytes : 0) {}

  Arena(void* block, [[maybe_unused]] uint64_t bytes, Gaps gaps = Gaps::poisoned)
      : block_(reinterpret_cast<uintptr_t>(block)), gap_bytes_(gaps == Gaps::poisoned ? kGapBytes : 0) {
#ifdef MOTE_POISONS_GAPS
    if (block != nullptr) {  // of an earlier session's gaps
      __asan_unpoison_memory_region(block, static_cast<size_t>(bytes));
    }
#endif
  }

  /// `count` elements. Null while counting.
  template <class T>
  T* take(uint64_t count) {
    return reinterpret_cast<T*>(take_bytes(saturating_multiply(count, sizeof(T))));
  }

  /// `count` blocks of `bytes` bytes each, *stride bytes from one to the next. Null while counting.
  uint8_t* take_blocks(uint64_t bytes, uint32_t count, uint64_t* stride) {
    *stride = part_bytes(bytes);
    uint8_t* first = nullptr;
    for (uint32_t i = 0; i < count; ++i) {
      uint8_t* block = take_bytes(bytes);
      if (i == 0) first = block;
    }
    return first;
  }

  /// UINT64_MAX where the parts take more than 64 bits can say.
  uint64_t used() const { return used_; }

 private:
#ifdef MOTE_POISONS_GAPS
  static constexpr uint64_t kGapBytes = 2 * kAlignment;
#else
  static constexpr uint64_t kGapBytes = 0;
#endif

  /// With the gap behind it.
  uint64_t part_bytes(uint64_t bytes) const {
    return saturating_add(saturating_align_up(bytes, kAlignment), gap_bytes_);
  }

  uint8_t* take_bytes(uint64_t bytes) {
    uint8_t* part = block_ == 0 ? nullptr : reinterpret_cast<uint8_t*>(block_ + used_);
    const uint64_t whole = part_bytes(bytes);
#ifdef MOTE_POISONS_GAPS
    if (part != nullptr && gap_bytes_ != 0) {
      __asan_poison_memory_region(part + bytes, static_cast<size_t>(whole - bytes));
    }
#endif
    used_ = saturating_add(used_, whole);
    return part;
  }

  uintptr_t block_ = 0;
  uint64_t used_ = 0;
  uint64_t gap_bytes_;
};

}  // namespace mote
