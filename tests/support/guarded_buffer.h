// SPDX-License-Identifier: Apache-2.0
//
// Memory next to an inaccessible page: an access past the watched edge is a fault at the very instruction.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <stdexcept>

#include "tests/support/pages.h"

namespace mote::testing {

enum class Edge { start, end };

class GuardedBuffer {
 public:
  /// Edge::end: the last byte is the last accessible one, so the address is a multiple of 64 only where
  /// `bytes` is. Edge::start: the first byte is the first accessible one, 4096-byte aligned.
  GuardedBuffer(size_t bytes, Edge edge) : bytes_(bytes) {
    const size_t page = page_bytes();
    const size_t inside = (bytes + page - 1) / page * page;
    mapped_bytes_ = inside + 2 * page;
    mapped_ = reserve_pages(mapped_bytes_);
    if (mapped_ == nullptr) throw std::runtime_error("no pages of memory");
    char* begin = static_cast<char*>(mapped_) + page;
    if (inside != 0 && !open_pages(begin, inside))
      throw std::runtime_error("no pages of memory that are written");
    data_ = edge == Edge::start ? begin : begin + inside - bytes;
  }
  ~GuardedBuffer() {
    if (mapped_ == nullptr) return;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(mapped_,
                                  mapped_bytes_);  // of a session's gaps: the next mapping may lie here
#endif
    release_pages(mapped_, mapped_bytes_);
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : mapped_(other.mapped_), mapped_bytes_(other.mapped_bytes_), data_(other.data_), bytes_(other.bytes_) {
    other.mapped_ = nullptr;
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  template <class T = char>
  T* data() const {
    return reinterpret_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

 private:
  void* mapped_;
  size_t mapped_bytes_;
  char* data_;
  size_t bytes_;
};

}  // namespace mote::testing
