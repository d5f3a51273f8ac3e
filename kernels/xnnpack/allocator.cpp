// SPDX-License-Identifier: Apache-2.0
#include "kernels/xnnpack/allocator.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <xnnpack.h>

#include "runtime/error.h"

namespace mote::xnnpack {
namespace {

// Initial-exec, because the general model may allocate at a thread's first access.
__attribute__((tls_model("initial-exec"))) thread_local Placement* placement = nullptr;

void* allocate(void*, size_t bytes) { return placement != nullptr ? placement->take(bytes) : malloc(bytes); }

void* reallocate(void*, void* old, size_t bytes) { return realloc(old, bytes); }

/// Operators in a region are never deleted, and one that could not be made lies there too.
void deallocate(void*, void* memory) {
  if (placement == nullptr) free(memory);
}

void* aligned_allocate(void*, size_t alignment, size_t bytes) {
  if (placement != nullptr) return alignment <= kAlignment ? placement->take(bytes) : nullptr;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

const xnn_allocator kAllocator = {nullptr, allocate, reallocate, deallocate, aligned_allocate, deallocate};

xnn_status initialized = xnn_status_uninitialized;
bool ours = false;  // XNNPACK uses kAllocator

/// Initializes XNNPACK, and makes an operator to find out which allocator XNNPACK calls.
void initialize_once() {
  initialized = xnn_initialize(&kAllocator);
  if (initialized != xnn_status_success) return;
  Arena counting(Arena::Gaps::none);
  Placement here(&counting, UINT64_MAX);
  const float weight = 0;
  xnn_operator_t op = nullptr;
  const xnn_status status =
      xnn_create_fully_connected_nc_f32(1, 1, 1, 1, &weight, nullptr, -INFINITY, INFINITY, 0, &op);
  ours = here.requests() != 0;
  if (!ours && status == xnn_status_success) xnn_delete_operator(op);
}

}  // namespace

Placement::Placement(Arena* arena, uint64_t bytes) : arena_(arena), bytes_(bytes) { placement = this; }

Placement::~Placement() { placement = nullptr; }

void* Placement::take(size_t bytes) {
  ++requests_;
  if (bytes > bytes_ - arena_->used()) return nullptr;
  void* memory = arena_->take<uint8_t>(bytes);
  if (memory != nullptr || bytes > sizeof counted_ - used_) return memory;
  memory = counted_ + used_;
  used_ += align_up(bytes, kAlignment);
  return memory;
}

mote_status initialize(mote_error* error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize_once);
  if (initialized != xnn_status_success) {
    return fail(error, MOTE_UNSUPPORTED_ISA, "XNNPACK does not run on this processor");
  }
  if (!ours) {
    return fail(error, MOTE_WRONG_STATE,
                "XNNPACK was initialized by another part of this program, with an allocator of its own; call "
                "mote_xnnpack_initialize first");
  }
  return MOTE_OK;
}

}  // namespace mote::xnnpack
