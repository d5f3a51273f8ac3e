// SPDX-License-Identifier: Apache-2.0
//
// Four columns at a time: the quad of a key, or a byte in each of four quads of values. Equals the reference
// bitwise.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/floats_helium.inl.h"
#include "kernels/cortex_m/kv_store_i8.inl.h"

namespace mote::helium {
namespace {

struct Columns {
  static void store_key(const float* x, uint32_t columns, const ref::Key<KvQuad>& key) {
    const ref::GroupScale group = group_scale(x, columns);
    ref::store_scale(group.scale, &key.scale());
    KvQuad* quad = key.block + 16 + key.place;
    for (uint32_t e = 0; e < columns; e += 4, quad += 16) {
      const int32x4_t bytes = vaddq_n_s32(quantized(x + e, group.inverse), 128);
      vstrbq_s32(reinterpret_cast<int8_t*>(quad->bytes), bytes);
    }
  }

  static void store_value(const float* x, uint32_t columns, const ref::Value<KvQuad>& value) {
    const ref::GroupScale group = group_scale(x, columns);
    ref::store_scale(group.scale, &value.scale());
    const uint32x4_t quads = vidupq_n_u32(0, 4);
    auto* byte = reinterpret_cast<int8_t*>(&value.byte(0));
    for (uint32_t e = 0; e < columns; e += 4)
      vstrbq_scatter_offset_s32(byte + e * sizeof(KvQuad), quads, quantized(x + e, group.inverse));
  }
};

}  // namespace

void kv_store_f32_i8(const KvStoreArgs& args, Range rows, void*) {
  cortex_m::kv_store_i8<Columns>(args, rows);
}

}  // namespace mote::helium
#endif
