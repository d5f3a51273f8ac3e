// SPDX-License-Identifier: Apache-2.0
//
// What the tests of all kernels share: the walk over the kernel list, splits of the work, random numbers.
#pragma once

#include <random>
#include <vector>

#include "kernels/dispatch.h"
#include "tests/support/guarded_rows.h"
#include "tests/support/plain_kernels.h"

namespace mote::testing {

/// Whether the templates over plain vectors are tested: native builds do, which suffices.
#ifdef MOTE_TEST_EMULATED
inline constexpr bool kTestsPlainVectors = false;
#else
inline constexpr bool kTestsPlainVectors = true;
#endif

/// Calls check(entry) for each kernel of `op` that this CPU runs, the reference included, and for the
/// templates over plain vectors.
template <class Check>
void each_kernel(Op op, Check check) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].op != op || !isa_available(kernels[i].isa)) continue;
    INFO("kernel " << isa_name(kernels[i].isa) << "::" << kernels[i].name);
    check(kernels[i]);
    ++found;
  }
  TEST_ASSERT_GREATER_THAN(0u, found);
  if (!kTestsPlainVectors) return;
  const KernelEntry* plain = plain_kernels(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (plain[i].op != op) continue;
    INFO("kernel " << plain[i].name << " over plain vectors as of " << isa_name(plain[i].isa));
    check(plain[i]);
  }
}

inline const KernelEntry& reference_of(const KernelEntry& entry) {
  return *find_kernel(entry.op, entry.a, entry.b, Isa::kRef);
}

inline bool is_reference(const KernelEntry& entry) { return entry.isa == Isa::kRef; }

/// Whether the kernel adds products of floats with one rounding, as the reference does.
inline bool fuses(const KernelEntry& entry) {
  return is_reference(entry) || has_all(family(entry.isa).features, kFma);
}

/// Bytes of scratch for a call of linear, and of attention.
inline size_t linear_scratch(const KernelEntry& entry, size_t rows, size_t inputs) {
  return static_cast<size_t>(entry.scratch_bytes({rows, inputs, 0, 0, 0}));
}
inline size_t attention_scratch(const KernelEntry& entry, uint32_t heads_per_kv_head, uint32_t key_dim,
                                uint32_t value_dim) {
  return static_cast<size_t>(entry.scratch_bytes({0, 0, heads_per_kv_head, key_dim, value_dim}));
}

/// Ways to split the units of work between calls.
enum class Split { whole, halves, ones_backwards };
inline constexpr Split kSplits[] = {Split::whole, Split::halves, Split::ones_backwards};

template <class Args>
void run_kernel(const KernelEntry& entry, const Args& args, uint32_t units, Split split = Split::whole,
                size_t scratch_bytes = 0) {
  const GuardedBuffer scratch(align_up(scratch_bytes, kAlignment), Edge::end);
  memset(scratch.data(), 0xFF, scratch.bytes());
  const Kernel<Args> kernel = kernel_cast<Args>(&entry);
  if (split == Split::whole) {
    kernel(args, {0, units}, scratch.data());
  } else if (split == Split::halves) {
    kernel(args, {0, units / 2}, scratch.data());
    kernel(args, {units / 2, units}, scratch.data());
  } else {
    for (uint32_t i = units; i-- > 0;) kernel(args, {i, i + 1}, scratch.data());
  }
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t bits() { return static_cast<uint32_t>(engine_()); }
  uint32_t below(uint32_t n) { return bits() % n; }
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace mote::testing
