// SPDX-License-Identifier: Apache-2.0
//
// Stores keys and values in a cache of bf16. Rounds to nearest even.
#include "kernels/reference/kv_store.inl.h"

namespace mote::ref {

void kv_store_f32_bf16(const KvStoreArgs& args, Range rows, void*) { kv_store<Bf16>(args, rows); }

}  // namespace mote::ref
