// SPDX-License-Identifier: Apache-2.0
//
// Storing is exact but for the rounding to f16, bf16 or i8: every kernel equals the layout computed here, to
// the bit, and leaves every other byte of the cache alone.
#include <float.h>
#include <math.h>

#include <algorithm>

#include "schema/bf16.h"
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

struct StoreCase {
  uint32_t kv_heads, key_dim, value_dim;
  std::vector<uint32_t> pages;  // [sequence][tiles], of which there are two
  uint32_t page_positions;

  uint32_t tiles() const { return static_cast<uint32_t>(pages.size() / 2); }
  /// Where the first of a position's 16 lies, counted in positions of a head.
  size_t block_of(int32_t sequence, int32_t position, uint32_t g) const {
    const auto s = static_cast<uint32_t>(sequence), p = static_cast<uint32_t>(position);
    const size_t page = pages[s * tiles() + p / kAttentionTile];
    return (page * kv_heads + g) * page_positions + p % kAttentionTile / 16 * 16;
  }
};

/// Writes `value` at element `index` of a cache of type `dtype`.
void put(DType dtype, const GuardedBuffer& cache, size_t index, float value) {
  const uint16_t half = dtype == DType::bf16 ? bf16_from_f32(value).bits : f16_from_f32(value);
  if (dtype == DType::f32) {
    memcpy(cache.data() + index * 4, &value, 4);
  } else {
    memcpy(cache.data() + index * 2, &half, 2);
  }
}

/// A head as i8: absmax / 127 and the nearest of its multiples; NaN and 0 where not all is finite.
struct Quantized {
  float scale = 0.0f;
  std::vector<int8_t> q;
};
Quantized quantized(const float* x, size_t columns) {
  Quantized of = {0.0f, std::vector<int8_t>(columns)};
  float absmax = 0.0f;
  for (size_t e = 0; e < columns; ++e) {
    if (!isfinite(x[e])) return {NAN, of.q};
    absmax = std::max(absmax, fabsf(x[e]));
  }
  of.scale = absmax / 127.0f;
  for (size_t e = 0; e < columns; ++e) of.q[e] = static_cast<int8_t>(rintf(x[e] * (127.0f / absmax)));
  return of;
}

/// A key or value at its place in the block of 16 that begins at this byte.
void put_i8_key(const GuardedBuffer& keys, size_t block, size_t place, const Quantized& x) {
  memcpy(keys.data() + block + place * 4, &x.scale, 4);
  for (size_t e = 0; e < x.q.size(); ++e)
    keys.data<uint8_t>()[block + (1 + e / 4) * 64 + place * 4 + e % 4] = static_cast<uint8_t>(x.q[e] + 128);
}

void put_i8_value(const GuardedBuffer& values, size_t block, size_t place, const Quantized& x) {
  memcpy(values.data() + block + place * 4, &x.scale, 4);
  for (size_t e = 0; e < x.q.size(); ++e)
    values.data<int8_t>()[block + 64 + (place / 4 * x.q.size() + e) * 4 + place % 4] = x.q[e];
}

/// What KV head g of row t leaves in the cache.
void put_head(DType dtype, const StoreCase& c, uint32_t g, int32_t sequence, int32_t position, const float* k,
              const float* v, const GuardedBuffer& keys, const GuardedBuffer& values) {
  const size_t first = c.block_of(sequence, position, g), place = static_cast<uint32_t>(position) % 16;
  if (dtype == DType::i8) {
    put_i8_key(keys, first * (c.key_dim + 4), place, quantized(k + g * c.key_dim, c.key_dim));
    return put_i8_value(values, first * (c.value_dim + 4), place,
                        quantized(v + g * c.value_dim, c.value_dim));
  }
  const size_t packed = dtype == DType::bf16 ? 2 : 1;
  for (uint32_t e = 0; e < c.key_dim; ++e)
    put(dtype, keys, first * c.key_dim + (e / packed * 16 + place) * packed + e % packed,
        k[g * c.key_dim + e]);
  for (uint32_t e = 0; e < c.value_dim; ++e)
    put(dtype, values, (first + place / packed * packed) * c.value_dim + e * packed + place % packed,
        v[g * c.value_dim + e]);
}

/// Scattered tokens, then runs of neighbours: one too short, one that begins within eight, one of two eights
/// and one that another sequence ends.
struct Tokens {
  std::vector<int32_t> positions, sequences;
  explicit Tokens(const StoreCase& c) {
    constexpr int32_t kScattered[][2] = {{0, 0}, {1, 0}, {15, 1}, {16, 0}, {33, 1}, {300, 1}, {47, 0}};
    for (const auto& [position, sequence] : kScattered) {
      if (position < 300 || c.tiles() > 2) add(position, 1, sequence);
    }
    add(64, 7, 0);
    add(85, 12, 1);
    add(104, c.page_positions == kAttentionTile ? 17 : 8, 0);
    add(48, 5, 1);
    add(53, 3, 0);
  }
  void add(int32_t first, int32_t count, int32_t sequence) {
    for (int32_t i = 0; i < count; ++i) positions.push_back(first + i), sequences.push_back(sequence);
  }
};

void check_case(const KernelEntry& entry, const StoreCase& c, Edge edge, Split split) {
  const uint32_t together = entry.b == DType::i8 ? 4 : entry.b == DType::bf16 ? 2 : 1;
  if (c.key_dim % together != 0 || c.value_dim % together != 0) return;
  INFO("G " << c.kv_heads << ", E " << c.key_dim << ", F " << c.value_dim << ", tiles " << c.tiles());
  const Tokens tokens(c);
  const uint32_t rows = static_cast<uint32_t>(tokens.positions.size());
  uint32_t page_count = 0;
  for (const uint32_t page : c.pages)
    page_count = page == kNoPage ? page_count : std::max(page_count, page + 1);
  const size_t positions = size_t{page_count} * c.kv_heads * c.page_positions;
  const size_t key_bytes = positions * kv_bytes(entry.b, c.key_dim);
  const size_t value_bytes = positions * kv_bytes(entry.b, c.value_dim);
  const GuardedBuffer keys(key_bytes, Edge::end), values(value_bytes, Edge::end);
  const GuardedBuffer expected_keys(key_bytes, Edge::end), expected_values(value_bytes, Edge::end);
  for (const GuardedBuffer* buffer : {&keys, &values, &expected_keys, &expected_values})
    memset(buffer->data(), 0x5A, buffer->bytes());
  const GuardedBuffer pages(c.pages.size() * sizeof(uint32_t), Edge::end);
  memcpy(pages.data(), c.pages.data(), pages.bytes());
  Random random(c.key_dim);
  GuardedRows k(rows, c.kv_heads * c.key_dim, edge), v(rows, c.kv_heads * c.value_dim, edge);
  const float signalling = f32_from_bits(0x7F812345u);  // a NaN
  k.fill([&](size_t, size_t i) {
    return i == 2 ? signalling : i == 3 ? INFINITY : random.uniform(-4.0f, 4.0f);
  });
  constexpr float kSmallAndLarge[] = {-1e-40f, 1e-7f, 1e6f, -FLT_MAX};
  v.fill([&](size_t, size_t i) { return i < 4 ? kSmallAndLarge[i] : random.uniform(-4.0f, 4.0f); });
  for (uint32_t t = 0; t < rows; ++t) {
    for (uint32_t g = 0; g < c.kv_heads; ++g) {
      put_head(entry.b, c, g, tokens.sequences[t], tokens.positions[t], k[t], v[t], expected_keys,
               expected_values);
    }
  }
  const KvCacheView cache = {keys.data(), values.data(),    pages.data<uint32_t>(),
                             c.tiles(),   c.page_positions, c.kv_heads,
                             c.key_dim,   c.value_dim};
  run_kernel(
      entry,
      KvStoreArgs{cache, tokens.positions.data(), tokens.sequences.data(), k.const_view(), v.const_view()},
      rows, split);
  TEST_ASSERT_EQUAL_MEMORY(expected_keys.data(), keys.data(), key_bytes);
  TEST_ASSERT_EQUAL_MEMORY(expected_values.data(), values.data(), value_bytes);
}

}  // namespace

TEST("kv_store puts each token's key and value in its page and touches nothing else", "[kv_store]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    for (uint32_t head_dim = 4; head_dim <= 40; ++head_dim) {
      for (const uint32_t kv_heads : {1u, 2u, 3u}) {
        check_case(entry, {kv_heads, head_dim, head_dim, {1, 0}, 112}, Edge::end, Split::whole);
        check_case(entry, {kv_heads, head_dim, head_dim, {2, kNoPage, kNoPage, 1, kNoPage, 3}, 128},
                   Edge::start, Split::ones_backwards);
      }
    }
  });
}

TEST("kv_store puts tiles that share a page at the same places", "[kv_store]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    check_case(entry, {2, 12, 12, {0, 1, 0, 3, 2, 3}, 128}, Edge::end, Split::whole);
  });
}

TEST("kv_store takes values that are wider or narrower than keys", "[kv_store][values]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    for (const uint32_t wide : {5u, 12u, 24u, 34u, 40u, 64u}) {
      for (const uint32_t narrow : {4u, 10u, 16u}) {
        check_case(entry, {2, wide, narrow, {1, 0}, 128}, Edge::end, Split::whole);
        check_case(entry, {2, narrow, wide, {1, kNoPage, kNoPage, 0, kNoPage, 2}, 128}, Edge::end,
                   Split::halves);
      }
    }
  });
}

TEST("kv_store rounds ties to even and keeps NaN", "[kv_store]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    if (entry.b != DType::f16) return;
    const uint32_t head_dim = 20;
    const GuardedBuffer keys(16 * head_dim * 2, Edge::end), values(16 * head_dim * 2, Edge::end);
    memset(keys.data(), 0, keys.bytes());
    memset(values.data(), 0, values.bytes());
    GuardedRows k(1, head_dim, Edge::end), v(1, head_dim, Edge::end);
    const auto tie = [](size_t, size_t i) { return i == 19 ? NAN : 2048.0f + static_cast<float>(i); };
    k.fill(tie);
    v.fill(tie);
    const int32_t zero = 0;
    const uint32_t page = 0;
    const KvCacheView cache = {keys.data(), values.data(), &page, 1, 16, 1, head_dim, head_dim};
    run_kernel(entry, KvStoreArgs{cache, &zero, &zero, k.const_view(), v.const_view()}, 1);
    for (size_t e = 0; e < head_dim; ++e) {
      const float stored_key = f32_from_f16(keys.data<uint16_t>()[e * 16]);
      const float stored_value = f32_from_f16(values.data<uint16_t>()[e]);
      if (e == 19) {
        TEST_ASSERT_TRUE(isnan(stored_key) && isnan(stored_value));
      } else {
        const float even = 2048.0f + static_cast<float>((e + (e % 4 == 3 ? 1 : 0)) & ~size_t{1});
        TEST_ASSERT_TRUE(stored_key == even && stored_value == even);
      }
    }
  });
}

}  // namespace mote::testing
