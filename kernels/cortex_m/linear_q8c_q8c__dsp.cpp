// SPDX-License-Identifier: Apache-2.0
//
// Four outputs at a time, as in linear_groups.inl.h; the group is the row. Equals the reference bitwise.
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/linear_groups.inl.h"

namespace mote::dsp {
namespace {

[[gnu::noinline]] void block_of_rows(const char* panel, uint32_t first, const uint32_t* pairs,
                                     uint32_t columns, float scale, float (&acc)[kBlock]) {
  const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
  const auto* words = reinterpret_cast<const uint32_t*>(head + 1) + first;
  int32_t dot[kBlock] = {};
  for (uint32_t k = 0; k < columns; k += kGroupColumns) Bytes::dots(words, pairs, dot);
  for (uint32_t r = 0; r < kBlock; ++r) {
    acc[r] = __builtin_fmaf(scale * head->scale[first + r], static_cast<float>(dot[r]), 0.0f);
  }
}

}  // namespace

void linear_q8c_q8c(const LinearArgs& args, Range panels, void* scratch) {
  const auto pairs_of = [&](const int8_t* q, uint32_t columns) {
    auto* pairs = static_cast<uint32_t*>(scratch);
    widen_quads(q, columns, pairs);
    return pairs;
  };
  cortex_m::linear_q8c<kBlock>(args, panels, pairs_of, block_of_rows);
}

uint64_t linear_q8c_q8c_scratch(const ScratchShape& shape) { return pairs_bytes(shape.inputs); }

}  // namespace mote::dsp
#endif
