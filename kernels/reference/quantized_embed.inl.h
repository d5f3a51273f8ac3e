// SPDX-License-Identifier: Apache-2.0
//
// Embedding from the quantized P16K4 types: value(cell, g, r, k) dequantizes column k of group g of row r.
#pragma once

#include "kernels/ops.h"

namespace mote::ref {

template <class Supercell, class Value>
static inline void quantized_embed(const EmbedArgs& args, Range rows, Value value) {
  const uint64_t supercells = align_up(args.width, kSupercellColumns) / kSupercellColumns;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    const Supercell* panel = static_cast<const Supercell*>(args.table) + id / kPanelRows * supercells;
    for (uint32_t k = 0; k < args.width; ++k) {
      const uint32_t group = k % kSupercellColumns / kGroupColumns;
      args.out[t][k] = value(panel[k / kSupercellColumns], group, id % kPanelRows, k % kGroupColumns);
    }
  }
}

}  // namespace mote::ref
