// SPDX-License-Identifier: Apache-2.0
//
// Keys and values that move to the front of their sequence lie there as if they had been stored there.
#include "runtime/exec/memory.h"
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

constexpr uint32_t kPositions = 300, kDropped = 37, kHeads = 2, kKeyDim = 12, kValueDim = 8;

/// A cache of one sequence, its pages in the order of its tiles, all bytes of it 0.
struct Cache {
  explicit Cache(DType dtype)
      : pages(3 * sizeof(uint32_t), Edge::end),
        keys(bytes(dtype, kKeyDim), Edge::end),
        values(bytes(dtype, kValueDim), Edge::end) {
    for (uint32_t tile = 0; tile < 3; ++tile) pages.data<uint32_t>()[tile] = tile;
    memset(keys.data(), 0, keys.bytes());
    memset(values.data(), 0, values.bytes());
  }
  static size_t bytes(DType dtype, uint32_t width) {
    return static_cast<size_t>(size_t{3} * kHeads * kAttentionTile * kv_bytes(dtype, width));
  }
  KvCacheView view() const {
    return {keys.data(), values.data(), pages.data<uint32_t>(), 3, kAttentionTile, kHeads,
            kKeyDim,     kValueDim};
  }

  GuardedBuffer pages, keys, values;
};

/// Rows from `first` on, the first of them at position 0.
void store(const KernelEntry& entry, const Cache& cache, uint32_t first) {
  const uint32_t rows = kPositions - first;
  Random random(1);
  std::vector<float> k(size_t{kPositions} * kHeads * kKeyDim), v(size_t{kPositions} * kHeads * kValueDim);
  for (float& value : k) value = random.uniform(-2.0f, 2.0f);
  for (float& value : v) value = random.uniform(-2.0f, 2.0f);
  GuardedRows k_rows(rows, kHeads * kKeyDim, Edge::end), v_rows(rows, kHeads * kValueDim, Edge::end);
  k_rows.fill([&](size_t t, size_t i) { return k[(first + t) * kHeads * kKeyDim + i]; });
  v_rows.fill([&](size_t t, size_t i) { return v[(first + t) * kHeads * kValueDim + i]; });
  std::vector<int32_t> positions(rows), sequences(rows);
  for (uint32_t t = 0; t < rows; ++t) positions[t] = static_cast<int32_t>(t);
  run_kernel(
      entry,
      KvStoreArgs{cache.view(), positions.data(), sequences.data(), k_rows.const_view(), v_rows.const_view()},
      rows);
}

}  // namespace

TEST("keys and values that move to the front lie as those stored there", "[kv_store]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    const Cache moved(entry.b), stored(entry.b);
    store(entry, moved, 0);
    move_to_front(moved.view(), entry.b, 0, kDropped, kPositions - kDropped);
    // What lies behind is no longer the sequence's: the same in both.
    store(entry, stored, 0);
    store(entry, stored, kDropped);
    TEST_ASSERT_EQUAL_MEMORY(stored.keys.data(), moved.keys.data(), stored.keys.bytes());
    TEST_ASSERT_EQUAL_MEMORY(stored.values.data(), moved.values.data(), stored.values.bytes());
  });
}

}  // namespace mote::testing
