// SPDX-License-Identifier: Apache-2.0
//
// Quantizes each head and stores it in a cache of i8, bit for bit as the reference: a quad of a key is a
// word.
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/kv_store_i8.inl.h"
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::dsp {
namespace {

struct Columns {
  static void store_key(const float* x, uint32_t columns, const ref::Key<KvQuad>& key) {
    const ref::GroupScale group = group_scale(x, nullptr, columns);
    ref::store_scale(group.scale, &key.scale());
    KvQuad* quad = key.block + 16 + key.place;
    for (uint32_t e = 0; e < columns; e += 4, quad += 16) {
      uint32_t word = 0;
      for (uint32_t i = 4; i-- > 0 && group.inverse != 0.0f;)
        word = word << 8 | (static_cast<uint32_t>(rounded(x[e + i] * group.inverse)) & 0xFFu);
      word ^= 0x80808080u;  // bytes are stored plus 128
      memcpy(quad, &word, sizeof word);
    }
  }

  static void store_value(const float* x, uint32_t columns, const ref::Value<KvQuad>& value) {
    const ref::GroupScale group = group_scale(x, nullptr, columns);
    ref::store_scale(group.scale, &value.scale());
    uint8_t* byte = &value.byte(0);
    for (uint32_t e = 0; e < columns; ++e, byte += sizeof(KvQuad))
      *byte = static_cast<uint8_t>(group.inverse == 0.0f ? 0 : rounded(x[e] * group.inverse));
  }
};

}  // namespace

void kv_store_f32_i8(const KvStoreArgs& args, Range rows, void*) {
  cortex_m::kv_store_i8<Columns>(args, rows);
}

}  // namespace mote::dsp
#endif
