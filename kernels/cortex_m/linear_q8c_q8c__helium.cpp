// SPDX-License-Identifier: Apache-2.0
//
// Four outputs at a time, as in linear_groups_helium.inl.h; the group is the row. Equals the reference
// bitwise.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/vmladav.inl.h"

namespace mote::helium {
namespace {

void block_of_rows(const char* panel, uint32_t first, const int8_t* q, uint32_t columns, float scale,
                   float (&acc)[kBlock]) {
  const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
  uint32x4_t words = words_at(reinterpret_cast<const char*>(head + 1) + 4 * first);
  int32_t dot[kBlock] = {};
  for (uint32_t k = 0; k < columns; k += kGroupColumns) {
    add_dots_of_bytes(words, vldrbq_s8(q + k), vldrbq_s8(q + k + 16), dot);
    words = vaddq_n_u32(words, kGroupColumns / 4 * sizeof(QuadQ8c));
  }
  for (uint32_t r = 0; r < kBlock; ++r) {
    acc[r] = __builtin_fmaf(scale * head->scale[first + r], static_cast<float>(dot[r]), 0.0f);
  }
}

}  // namespace

void linear_q8c_q8c(const LinearArgs& args, Range panels, void*) {
  cortex_m::linear_q8c<kBlock>(args, panels, [](const int8_t* q, uint32_t) { return q; }, block_of_rows);
}

}  // namespace mote::helium
#endif
