// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table f16 in rows, 8 columns at a time, or in panels [panel][k][16], where a row's
// columns are a cache line for each two and one at a time is no slower. Exact.
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

void embed_f32_f16(const EmbedArgs& args, Range rows, void*) {
  const uint32_t width = args.width;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const size_t id = static_cast<uint32_t>(args.ids[t]);
    float* out = args.out[t];
    if (args.row_major) {
      const uint16_t* row = static_cast<const uint16_t*>(args.table) + id * width;
      uint32_t k = 0;
      for (; k + kLanes <= width; k += kLanes) _mm256_storeu_ps(out + k, load8(row + k));
      if (k < width) store_first(out + k, width - k, load_first(row + k, width - k));
    } else {
      const char* panel =
          static_cast<const char*>(args.table) + id / kPanelRows * panel_bytes(DType::f16, width);
      const uint16_t* column = reinterpret_cast<const uint16_t*>(panel) + id % kPanelRows;
      for (uint32_t k = 0; k < width; ++k) out[k] = _cvtsh_ss(column[k * kPanelRows]);
    }
  }
}

}  // namespace mote::avx2
