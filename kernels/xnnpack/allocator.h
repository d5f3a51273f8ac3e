// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK's allocator, one for the process: memory of a region to a thread that makes operators there,
// malloc's to everybody else.
#pragma once

#include "mote/status.h"
#include "runtime/exec/arena.h"

namespace mote::xnnpack {

/// Where the calling thread's requests go while it lives.
class Placement {
 public:
  /// The arena has `bytes` bytes. Without a block it only counts: XNNPACK asks twice for an operator: for its
  /// struct, which is then served from here, and for its weights, which are refused unless they fit here too;
  /// what is made so is never run.
  Placement(Arena* arena, uint64_t bytes);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  /// Before each operator.
  void begin_operator() {
    requests_ = 0;
    used_ = 0;
  }
  uint32_t requests() const { return requests_; }

  /// Null if it does not fit.
  void* take(size_t bytes);

 private:
  Arena* const arena_;
  const uint64_t bytes_;
  uint32_t requests_ = 0;
  size_t used_ = 0;
  alignas(kAlignment) uint8_t counted_[8192];  // operators of 2022 take 2112
};

/// As mote_xnnpack_initialize.
mote_status initialize(mote_error* error);

}  // namespace mote::xnnpack
