// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "mote/mote.h"

namespace test {

/// Memory aligned as mote asks for, of exactly so many bytes: a sanitizer sees the first step beyond.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t bytes) : size_(bytes) {
    void* data = nullptr;
    if (posix_memalign(&data, MOTE_ALIGNMENT, bytes) != 0) throw std::bad_alloc();
    data_.reset(static_cast<uint8_t*>(data));
    if (bytes != 0) std::memset(data, 0xEE, bytes);
  }
  AlignedBytes(const void* content, size_t bytes) : AlignedBytes(bytes) {
    if (bytes != 0) std::memcpy(data_.get(), content, bytes);
  }
  AlignedBytes(const AlignedBytes& other) : AlignedBytes(other.data(), other.size_) {}
  AlignedBytes(AlignedBytes&&) = default;
  AlignedBytes& operator=(AlignedBytes&&) = default;
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* data) const { free(data); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
};

}  // namespace test
