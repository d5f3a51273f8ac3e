// SPDX-License-Identifier: Apache-2.0
//
// Linear by smlal, or where activations may be -128 and weights are int8 by products that fit int16 one by
// one.
#pragma once

#include "kernels/arm/linear_rows.inl.h"
#include "kernels/arm/smlal.inl.h"

namespace mote {
namespace {

/// Says whether any activation is -128, which quantizing makes none.
static inline bool has_lowest(const LinearArgs& args) {
  const size_t columns = padded_columns(args);
  int8x16_t least = vdupq_n_s8(0);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const auto* q = reinterpret_cast<const int8_t*>(linear_row(args, row));
    for (const int8_t* end = q + columns; q != end; q += 32)
      least = vminq_s8(least, vminq_s8(vld1q_s8(q), vld1q_s8(q + 16)));
  }
  return vminvq_s8(least) == -128;
}

template <class Format>
constexpr uint64_t linear_groups_smlal_scratch(const ScratchShape& shape) {
  return linear_groups_scratch<Smlal<false>, Format>(shape);
}

template <class Format>
void linear_groups_smlal(const LinearArgs& args, Range panels, void* scratch) {
  if (Format::kBiased && has_lowest(args)) {
    linear_groups<Smlal<Format::kBiased>, Format>(args, panels, scratch);
  } else {
    linear_groups<Smlal<false>, Format>(args, panels, scratch);
  }
}

static inline void linear_rows_smlal(const LinearArgs& args, Range panels, void* scratch) {
  if (has_lowest(args)) {
    linear_rows<Smlal<true>>(args, panels, scratch);
  } else {
    linear_rows<Smlal<false>>(args, panels, scratch);
  }
}

}  // namespace
}  // namespace mote
