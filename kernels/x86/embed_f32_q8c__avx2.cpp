// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q8c: scale * q, the reference's bits. A row of a row-major table is one
// stream of bytes. In panels it is as embed_avx2.inl.h says: 32 columns by a gather, bound by the misses, of
// which there are 16 times as many. K is padded to 64 there, so every gather lies inside the panel.
#include "kernels/x86/embed_avx2.inl.h"

namespace mote::avx2 {
namespace {

void embed_row(const char* row, uint32_t width, float* out) {
  const auto* q = reinterpret_cast<const int8_t*>(row + sizeof(float));
  const float scale = *reinterpret_cast<const float*>(row);
  uint32_t k = 0;
  for (; k + kLanes <= width; k += kLanes) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(q + k));
    const __m256 columns = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
    _mm256_storeu_ps(out + k, _mm256_mul_ps(_mm256_set1_ps(scale), columns));
  }
  for (; k < width; ++k) out[k] = scale * static_cast<float>(q[k]);
}

void embed_from_panel(const char* panel, uint32_t row, uint32_t width, float* out) {
  const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
  const auto* quads = reinterpret_cast<const QuadQ8c*>(head + 1);
  const __m256 scale = _mm256_set1_ps(head->scale[row]);
  for (uint32_t k = 0; k < width; k += kGroupColumns) {
    const __m256i q = gather8_words(quads[k / 4].q[row]);
    for (uint32_t v = 0; v < kGroupVectors && k + v * kLanes < width; ++v) {
      const uint32_t column = k + v * kLanes;
      store_first(out + column, width - column, _mm256_mul_ps(scale, floats_of(q, v)));
    }
  }
}

}  // namespace

void embed_f32_q8c(const EmbedArgs& args, Range rows, void*) {
  const char* table = static_cast<const char*>(args.table);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    if (args.row_major) {
      embed_row(table + id * row_bytes(DType::q8c, args.width), args.width, args.out[t]);
    } else {
      const char* panel = table + id / kPanelRows * panel_bytes(DType::q8c, args.width);
      embed_from_panel(panel, id % kPanelRows, args.width, args.out[t]);
    }
  }
}

}  // namespace mote::avx2
