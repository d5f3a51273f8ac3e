// SPDX-License-Identifier: Apache-2.0
//
// Finds the kernel for an operation: the first line of kernel_list.inc that has the types and runs on the
// family.
#pragma once

#include "kernels/families.h"
#include "kernels/ops.h"

namespace mote {

template <class Args>
using Kernel = void (*)(const Args& args, Range units, void* scratch);

using AnyKernel = void (*)();

/// A line of kernel_list.inc. `name` is "linear_q8g32_q4g32"; kernels with one dtype have it as `a` and as
/// `b`.
struct KernelEntry {
  Op op;
  DType a;  // activation (or, for attention and kv_store, always f32)
  DType b;  // weight, table or cache
  Isa isa;  // the family whose features it needs
  const char* name;
  AnyKernel run;
  ScratchBytes scratch;  // null: none

  uint64_t scratch_bytes(const ScratchShape& shape) const { return scratch == nullptr ? 0 : scratch(shape); }
};

/// All kernels of this build, fastest first.
const KernelEntry* kernel_list(uint32_t* count);

/// The fastest that runs on the family. Null if there is none.
const KernelEntry* find_kernel(Op op, DType a, DType b, Isa chosen);

template <class Args>
Kernel<Args> kernel_cast(const KernelEntry* entry) {
  return reinterpret_cast<Kernel<Args>>(entry->run);
}

}  // namespace mote
