// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q8c: scale * q, the reference's bits. As embed_avx2.inl.h says: 32 columns by
// a gather, bound by the misses. K is padded to 64 in the file, so every gather lies inside the panel.
#include "kernels/x86/embed_avx2.inl.h"

namespace mote::avx2 {

void embed_f32_q8c(const EmbedArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    const uint32_t row = id % kPanelRows;
    const char* panel =
        static_cast<const char*>(args.table) + id / kPanelRows * panel_bytes(DType::q8c, args.width);
    const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
    const auto* quads = reinterpret_cast<const QuadQ8c*>(head + 1);
    const __m256 scale = _mm256_set1_ps(head->scale[row]);
    for (uint32_t k = 0; k < args.width; k += kGroupColumns) {
      const __m256i q = gather8_words(quads[k / 4].q[row]);
      for (uint32_t v = 0; v < kGroupVectors && k + v * kLanes < args.width; ++v) {
        const uint32_t column = k + v * kLanes;
        store_first(args.out[t] + column, args.width - column, _mm256_mul_ps(scale, floats_of(q, v)));
      }
    }
  }
}

}  // namespace mote::avx2
