// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/bf16_512.inl.h"
#include "kernels/x86/kv_store_bf16.inl.h"

namespace mote::avx512_bf16 {

void kv_store_f32_bf16(const KvStoreArgs& args, Range rows, void*) { kv_store(args, rows); }

}  // namespace mote::avx512_bf16
