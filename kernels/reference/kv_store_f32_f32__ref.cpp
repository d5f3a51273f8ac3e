// SPDX-License-Identifier: Apache-2.0
//
// Stores keys and values in a cache of f32. Exact.
#include "kernels/reference/kv_store.inl.h"

namespace mote::ref {

void kv_store_f32_f32(const KvStoreArgs& args, Range rows, void*) { kv_store<float>(args, rows); }

}  // namespace mote::ref
