// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct KvStore : Operation {
  template <class F>
  static constexpr void operands(KvStoreArgs& args, F&& f) {
    const KvCacheView& cache = args.cache;
    rows_of(f, args.k, uint64_t{cache.kv_heads} * cache.key_dim, args.v,
            uint64_t{cache.kv_heads} * cache.value_dim);
  }
  static uint64_t work_per_row(const KvStoreArgs& args) {
    return 8 * uint64_t{args.cache.kv_heads} * args.cache.key_dim;  // a store each
  }
  static const void* state_written(const KvStoreArgs& args) { return args.cache.keys; }

  template <class To>
  static void describe(const file::KvStore& op, To& to) {
    to.kind(op.k()->width());
    to.reads(op.k());
    to.reads(op.v());
    to.to("cache ", op.state());
    to.stores(op.state());
  }
};

inline void Binder::bind(const file::KvStore& op, Step* step) {
  const Operand k = f32_slice(op.k(), "k"), v = f32_slice(op.v(), "v");
  KvCacheView view{};
  const file::State* cache = this->cache(op.state(), &view);
  if (status_ != MOTE_OK) return;
  of_positions(k, *cache, "k");
  of_positions(v, *cache, "v");
  same_stream(k, v, "v");
  check(is_own(*cache), "state ", op.state(), " keeps rows of another program");
  width(k, view.kv_heads * view.key_dim, "k");
  width(v, view.kv_heads * view.value_dim, "v");
  const int32_t* positions = cache->memory() == 0 ? place(k).positions : behind_memory(k, "k").positions;
  step->kv_store = {view, positions, place(k).sequences, k.const_rows(), v.const_rows()};
  set_rows(step, k);
  kernel(step, Op::kKvStore, DType::f32, places_.kv_dtype);
}

}  // namespace mote::ops
