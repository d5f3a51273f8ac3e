// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q8c, row-major or in panels: scale * q, rounded once.
#include "kernels/ops.h"

namespace mote::ref {

void embed_f32_q8c(const EmbedArgs& args, Range rows, void*) {
  const char* table = static_cast<const char*>(args.table);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    if (args.row_major) {
      const char* row = table + id * row_bytes(DType::q8c, args.width);
      const float scale = *reinterpret_cast<const float*>(row);
      const auto* q = reinterpret_cast<const int8_t*>(row + sizeof(float));
      for (uint32_t k = 0; k < args.width; ++k) args.out[t][k] = scale * static_cast<float>(q[k]);
    } else {
      const uint32_t row = id % kPanelRows;
      const char* panel = table + id / kPanelRows * panel_bytes(DType::q8c, args.width);
      const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
      const auto* quads = reinterpret_cast<const QuadQ8c*>(head + 1);
      for (uint32_t k = 0; k < args.width; ++k)
        args.out[t][k] = head->scale[row] * static_cast<float>(quads[k / 4].q[row][k % 4]);
    }
  }
}

}  // namespace mote::ref
