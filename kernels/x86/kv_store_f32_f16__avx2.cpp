// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/kv_store_avx2.inl.h"

namespace mote::avx2 {

void kv_store_f32_f16(const KvStoreArgs& args, Range rows, void*) { kv_store<uint16_t>(args, rows); }

}  // namespace mote::avx2
