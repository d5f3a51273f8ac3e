// SPDX-License-Identifier: Apache-2.0
//
// Finds the kernel for an operation: the first line of kernel_list.inc that fits the types and the family.
#pragma once

#include "kernels/cpu_features.h"
#include "kernels/ops.h"

namespace mote {

template <class Args>
using Kernel = void (*)(const Args& args, Range units, void* scratch);

using AnyKernel = void (*)();

/// The largest call of a step, as far as scratch depends on it.
struct ScratchShape {
  uint64_t rows;               // of linear
  uint64_t inputs;             // of linear
  uint64_t heads_per_kv_head;  // of attention
  uint32_t key_dim;            // of attention
  uint32_t value_dim;          // of attention
};

/// Bytes of scratch that any call of at most this shape needs, a multiple of 64. Grows with each member.
using ScratchBytes = uint64_t (*)(const ScratchShape& shape);

/// A line of kernel_list.inc. `name` is "linear_q8g32_q4g32"; kernels with one dtype have it as `a` and as
/// `b`.
struct KernelEntry {
  Op op;
  DType a;  // activation (or, for attention and kv_store, always f32)
  DType b;  // weight, table or cache
  Isa isa;
  const char* name;
  AnyKernel run;
  ScratchBytes scratch = nullptr;  // null: none

  uint64_t scratch_bytes(const ScratchShape& shape) const { return scratch == nullptr ? 0 : scratch(shape); }
};

/// All kernels of this build, fastest first.
const KernelEntry* kernel_list(uint32_t* count);

/// Null if there is none.
const KernelEntry* find_kernel(Op op, DType a, DType b, Isa level);

template <class Args>
Kernel<Args> kernel_cast(const KernelEntry* entry) {
  return reinterpret_cast<Kernel<Args>>(entry->run);
}

}  // namespace mote
