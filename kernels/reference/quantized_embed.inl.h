// SPDX-License-Identifier: Apache-2.0
//
// Embedding from the quantized P16K4 types: value(cell, g, r, k) dequantizes column k of group g of row r.
#pragma once

#include "kernels/ops.h"

namespace mote::ref {

template <class Supercell, uint32_t kGroups = 2, class Value>
static inline void quantized_embed(const EmbedArgs& args, Range rows, Value value) {
  constexpr uint32_t kColumns = kGroups * kGroupColumns;
  size_t bytes = static_cast<size_t>(align_up(args.width, kColumns) / kColumns) * sizeof(Supercell);
  if constexpr (kGroups == kWideGroups) bytes = static_cast<size_t>(wide_panel_bytes<Supercell>(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    const auto* panel =
        reinterpret_cast<const Supercell*>(static_cast<const char*>(args.table) + id / kPanelRows * bytes);
    for (uint32_t k = 0; k < args.width; ++k) {
      const uint32_t group = k % kColumns / kGroupColumns;
      args.out[t][k] = value(panel[k / kColumns], group, id % kPanelRows, k % kGroupColumns);
    }
  }
}

}  // namespace mote::ref
