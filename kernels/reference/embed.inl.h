// SPDX-License-Identifier: Apache-2.0
//
// Embedding from f32 and f16 tables: row-major, or P16K4 [panel][k][16].
#pragma once

#include "kernels/ops.h"
#include "kernels/reference/element.inl.h"

namespace mote::ref {

template <DType dtype, class Element>
static inline void embed(const EmbedArgs& args, Range rows) {
  const uint64_t width = args.width;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint64_t id = static_cast<uint32_t>(args.ids[t]);
    const char* table = static_cast<const char*>(args.table);
    if (args.row_major) {
      const Element* row = reinterpret_cast<const Element*>(table) + id * width;
      for (uint32_t k = 0; k < width; ++k) args.out[t][k] = load(row[k]);
    } else {
      const auto* panel =
          reinterpret_cast<const Element*>(table + id / kPanelRows * panel_bytes(dtype, width));
      for (uint32_t k = 0; k < width; ++k) args.out[t][k] = load(panel[k * kPanelRows + id % kPanelRows]);
    }
  }
}

}  // namespace mote::ref
