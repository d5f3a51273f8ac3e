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
  auto* pairs = static_cast<uint32_t*>(scratch);
  const auto columns = static_cast<uint32_t>(activation_padded(args.inputs));
  for (uint32_t t = 0; t < args.rows; ++t) {
    const char* row = static_cast<const char*>(args.in) + t * args.in_stride_bytes;
    const float scale = reinterpret_cast<const RowScale*>(row + activation_scale_offset(args.inputs))->scale;
    widen_quads(reinterpret_cast<const int8_t*>(row), columns, pairs);
    ref::each_panel(args, panels, [&](uint32_t panel) {
      const char* weight =
          static_cast<const char*>(args.weight) + panel * panel_bytes(DType::q8c, args.inputs);
      for (uint32_t first = 0; first < kPanelRows; first += kBlock) {
        const uint32_t output = panel * kPanelRows + first;
        const uint32_t count = cortex_m::outputs_of(args, output, kBlock);
        if (count == 0) return;
        float acc[kBlock];
        block_of_rows(weight, first, pairs, columns, scale, acc);
        cortex_m::finish_outputs(args, t, output, count, acc);
      }
    });
  }
}

uint64_t linear_q8c_q8c_scratch(const ScratchShape& shape) { return pairs_bytes(shape.inputs); }

}  // namespace mote::dsp
#endif
