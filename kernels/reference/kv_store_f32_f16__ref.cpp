// SPDX-License-Identifier: Apache-2.0
//
// Stores keys and values in a cache of f16. Rounds to nearest even.
#include "kernels/reference/kv_store.inl.h"

namespace mote::ref {

void kv_store_f32_f16(const KvStoreArgs& args, Range rows, void*) { kv_store<uint16_t>(args, rows); }

}  // namespace mote::ref
