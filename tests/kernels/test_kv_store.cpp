// SPDX-License-Identifier: Apache-2.0
//
// Storing is exact but for the rounding to f16, bf16 or i8: every kernel equals the layout computed here, to
// the bit, and leaves every other byte of the cache alone.
#include <math.h>

#include <algorithm>

#include "schema/bf16.h"
#include "tests/support/kernel_test.h"

namespace mote::test {
namespace {

struct Case {
  uint32_t kv_heads, head_dim, capacity;
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
Quantized quantized(const float* x, size_t head_dim) {
  Quantized of = {0.0f, std::vector<int8_t>(head_dim)};
  float absmax = 0.0f;
  for (size_t e = 0; e < head_dim; ++e) {
    if (!isfinite(x[e])) return {NAN, of.q};
    absmax = std::max(absmax, fabsf(x[e]));
  }
  of.scale = absmax / 127.0f;
  for (size_t e = 0; e < head_dim; ++e) of.q[e] = static_cast<int8_t>(rintf(x[e] * (127.0f / absmax)));
  return of;
}

/// A key or value in its slot of the head that begins `head` bytes into the cache.
void put_i8_key(const GuardedBuffer& keys, size_t head, size_t slot, size_t head_dim, const Quantized& x) {
  const size_t block = head + slot / 16 * 16 * (head_dim + 4), place = slot % 16 * 4;
  memcpy(keys.data() + block + place, &x.scale, 4);
  for (size_t e = 0; e < head_dim; ++e) {
    keys.data<uint8_t>()[block + (1 + e / 4) * 64 + place + e % 4] = static_cast<uint8_t>(x.q[e] + 128);
  }
}

void put_i8_value(const GuardedBuffer& values, size_t head, size_t slot, size_t head_dim,
                  const Quantized& x) {
  const size_t block = head + slot / 16 * 16 * (head_dim + 4), place = slot % 16;
  memcpy(values.data() + block + place * 4, &x.scale, 4);
  for (size_t e = 0; e < head_dim; ++e) {
    values.data<int8_t>()[block + 64 + (place / 4 * head_dim + e) * 4 + place % 4] = x.q[e];
  }
}

void check_case(const KernelEntry& entry, const Case& c, Edge edge, Split split) {
  const bool i8 = entry.b == DType::i8;
  const size_t packed = entry.b == DType::bf16 ? 2 : 1;
  if (c.head_dim % (i8 ? 4 : packed) != 0) return;
  INFO("G " << c.kv_heads << ", E " << c.head_dim << ", capacity " << c.capacity);
  // Scattered tokens, then runs of neighbours: one too short, one that begins within eight, one of two eights
  // and one that another sequence ends.
  std::vector<int32_t> positions = {0, 1, 15, 16, 33, 300, 47}, sequences = {0, 0, 1, 0, 1, 1, 0};
  const auto neighbours = [&](int32_t first, int32_t count, int32_t sequence) {
    for (int32_t i = 0; i < count; ++i) positions.push_back(first + i), sequences.push_back(sequence);
  };
  neighbours(64, 7, 0);
  neighbours(85, 12, 1);
  neighbours(104, 17, 0);
  neighbours(48, 5, 1);
  neighbours(53, 3, 0);
  const uint32_t rows = static_cast<uint32_t>(positions.size());
  const size_t column_bytes = entry.b == DType::f32 ? 4 : 2;
  const size_t head_bytes = size_t{c.capacity} * (i8 ? c.head_dim + 4 : c.head_dim * column_bytes);
  const size_t bytes = size_t{2} * c.kv_heads * head_bytes;
  const GuardedBuffer keys(bytes, Edge::end), values(bytes, Edge::end);
  const GuardedBuffer expected_keys(bytes, Edge::end), expected_values(bytes, Edge::end);
  for (const GuardedBuffer* buffer : {&keys, &values, &expected_keys, &expected_values}) {
    memset(buffer->data(), 0x5A, bytes);
  }
  Random random(c.head_dim);
  GuardedRows k(rows, c.kv_heads * c.head_dim, edge), v(rows, c.kv_heads * c.head_dim, edge);
  k.fill([&](size_t, size_t i) { return i == 3 ? INFINITY : random.uniform(-4.0f, 4.0f); });
  v.fill([&](size_t, size_t i) { return i == 1 ? 1e-7f : i == 2 ? 1e6f : random.uniform(-4.0f, 4.0f); });
  for (uint32_t t = 0; t < rows; ++t) {
    const size_t slot = static_cast<uint32_t>(positions[t]) % c.capacity;
    for (uint32_t g = 0; g < c.kv_heads; ++g) {
      const size_t heads = static_cast<uint32_t>(sequences[t]) * c.kv_heads + g;
      if (i8) {
        const size_t head = heads * head_bytes, column = g * c.head_dim;
        put_i8_key(expected_keys, head, slot, c.head_dim, quantized(k[t] + column, c.head_dim));
        put_i8_value(expected_values, head, slot, c.head_dim, quantized(v[t] + column, c.head_dim));
        continue;
      }
      const size_t head = heads * c.capacity * c.head_dim;
      for (uint32_t e = 0; e < c.head_dim; ++e) {
        const size_t column = g * c.head_dim + e;
        const size_t block = slot / 16 * 16 * c.head_dim;
        const size_t key = block + (e / packed * 16 + slot % 16) * packed + e % packed;
        const size_t value = (slot / packed * c.head_dim + e) * packed + slot % packed;
        put(entry.b, expected_keys, head + key, k[t][column]);
        put(entry.b, expected_values, head + value, v[t][column]);
      }
    }
  }
  const KvCacheView cache = {keys.data(), values.data(), c.capacity, c.kv_heads, c.head_dim};
  run_kernel(entry, KvStoreArgs{cache, positions.data(), sequences.data(), k.const_view(), v.const_view()},
             rows, split);
  TEST_ASSERT_EQUAL_MEMORY(expected_keys.data(), keys.data(), bytes);
  TEST_ASSERT_EQUAL_MEMORY(expected_values.data(), values.data(), bytes);
}

}  // namespace

TEST("kv_store puts each token's key and value in its slot and touches nothing else", "[kv_store]") {
  each_kernel(Op::kKvStore, [](const KernelEntry& entry) {
    for (uint32_t head_dim = 4; head_dim <= 40; ++head_dim) {
      for (const uint32_t kv_heads : {1u, 2u, 3u}) {
        check_case(entry, {kv_heads, head_dim, 128}, Edge::end, Split::whole);
        check_case(entry, {kv_heads, head_dim, 304}, Edge::start, Split::ones_backwards);
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
    const KvCacheView cache = {keys.data(), values.data(), 16, 1, head_dim};
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

}  // namespace mote::test
