// SPDX-License-Identifier: Apache-2.0
//
// The walk over panels, rows and groups that the linear kernels of quantized weights share.
#pragma once

#include "kernels/reference/linear.inl.h"

namespace mote::ref {

/// A group of a q8g32 row.
struct ActivationGroup {
  const int8_t* q;  // [32]
  float scale;
  int32_t sum;
};

/// accumulate(cell, g, x, acc) adds the products of group g of a supercell of kGroups with the activation
/// group x to acc.
template <class Supercell, uint32_t kGroups = 2, class Accumulate>
static inline void quantized_linear(const LinearArgs& args, Range panels, Accumulate accumulate) {
  const size_t groups = static_cast<size_t>(activation_padded(args.inputs) / kGroupColumns);
  size_t bytes = groups / 2 * sizeof(Supercell);
  if constexpr (kGroups == kWideGroups) bytes = static_cast<size_t>(wide_panel_bytes<Supercell>(args.inputs));
  each_panel(args, panels, [&](uint32_t panel) {
    const auto* weight =
        reinterpret_cast<const Supercell*>(static_cast<const char*>(args.weight) + panel * bytes);
    for (uint32_t t = 0; t < args.rows; ++t) {
      const QuantizedRow in = quantized_row(args, t);
      float acc[kPanelRows] = {};
      for (size_t group = 0; group < groups; ++group) {
        const ActivationGroup x = {in.q + group * kGroupColumns, in.scale[group], in.sum[group]};
        accumulate(weight[group / kGroups], group % kGroups, x, acc);
      }
      finish_panel(args, t, panel, acc);
    }
  });
}

}  // namespace mote::ref
