// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t], as f16 to nearest even: keys [capacity / 16][E][16], values
// [capacity][E]. 8 columns are converted at a time, the last ones under a mask: the same bits as the
// reference. Values are contiguous; an element of a key goes to a place of its own, 32 bytes from the next,
// so that its store is the limit (1 a cycle).
#include <assert.h>
#include <string.h>

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

constexpr uint32_t kKeyStep = 16;  // elements from one column of a key to the next

/// The first `count` <= 8 floats as f16, the rest 0.
static inline void convert_first(const float* from, uint32_t count, uint16_t* to) {
  const __m128i half =
      _mm256_cvtps_ph(load_first(from, count), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), half);
}

static inline void store_head(const float* k, const float* v, uint32_t width, uint16_t* key,
                              uint16_t* value) {
  for (uint32_t e = 0; e < width; e += kLanes) {
    const uint32_t count = width - e < kLanes ? width - e : kLanes;
    uint16_t half[kLanes];
    convert_first(k + e, count, half);
    for (uint32_t i = 0; i < count; ++i) key[(e + i) * kKeyStep] = half[i];
    convert_first(v + e, count, half);
    memcpy(value + e, half, count * sizeof(uint16_t));
  }
}

void kv_store_f32_f16(const KvStoreArgs& args, Range rows, void*) {
  const KvCacheView& cache = args.cache;
  assert(cache.capacity % kKeyStep == 0);
  const uint32_t width = cache.head_dim;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t slot = static_cast<uint32_t>(args.positions[t]) % cache.capacity;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t head = static_cast<size_t>(args.sequences[t]) * cache.kv_heads + g;
      const size_t start = head * cache.capacity * width;
      uint16_t* key = static_cast<uint16_t*>(cache.keys) + start +
                      static_cast<size_t>(slot / kKeyStep) * kKeyStep * width;
      uint16_t* value = static_cast<uint16_t*>(cache.values) + start + static_cast<size_t>(slot) * width;
      store_head(args.k[t] + g * width, args.v[t] + g * width, width, key + slot % kKeyStep, value);
    }
  }
}

}  // namespace mote::avx2
