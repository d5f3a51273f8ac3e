// SPDX-License-Identifier: Apache-2.0
//
// n positions seen, E head width. Every kernel is within (n + 4 E + 32) 2^-23 max |v| of softmax in double
// precision (n roundings of the sums, E of each score) and within (n + 32) 2^-23 max |v| of the reference,
// whose scores have the same order of fma. A row gives the same bits in every batch. Cache slots that no row
// sees hold NaN. Over a cache of bf16 queries and weights may be rounded, too, to 2^-9 of themselves, and
// weights be computed to 2^-13. Over one of i8 queries may be rounded to bytes, which those here are already,
// and weights to a 510th of the largest, or where neighbours share 255 levels of their sum: n of them to
// n / (510 sum of weights), or twice that.
#include <algorithm>
#include <numeric>

#include "schema/bf16.h"
#include "tests/support/kernel_test.h"
#include "tests/support/paired_floats.h"
#include "tests/support/vnni_kernels.h"

namespace mote::test {
namespace {

template <class Check>
void each_attention(Check check) {
  each_kernel(Op::kAttention, check);
  each_paired(Op::kAttention, check);
#if defined(__x86_64__)
  if (!isa_available(Isa::kAvx512Vnni)) return;
  INFO("kernel avx512_vnni::attention_f32_i8 over EVEX ymm");
  check(kEvexAttention);
#endif
}

struct Case {
  uint32_t rows, ratio, kv_heads, head_dim, context;  // the last row is at position context - 1
  uint32_t window = 0;
  Edge edge = Edge::end;
  bool two_sequences = false;  // rows alternate between sequence 0 and 1
  bool bidirectional = false;
  bool bias = false;
};

/// Queries, keys and values of two sequences, all of them in a cache where their slots still exist.
class Scene {
 public:
  Scene(DType dtype, const Case& c)
      : case_(c),
        dtype_(dtype),
        capacity_(static_cast<uint32_t>(c.window != 0 ? align_up(c.window + c.rows - 1, kAttentionTile)
                                                      : align_up(c.context, 16))),
        keys_(cache_bytes(), Edge::end),
        values_(cache_bytes(), Edge::end),
        bias_(c.bias ? size_t{heads()} * (2 * size_t{c.context} - 1) * sizeof(float) : 0, Edge::end) {
    Random random(c.head_dim * 1000 + c.context);
    for (size_t i = 0; i < bias_.bytes() / sizeof(float); ++i)
      bias_.data<float>()[i] = random.uniform(-2.0f, 2.0f);
    q_.resize(size_t{2} * c.context * c.kv_heads * c.ratio * c.head_dim);
    k_.resize(size_t{2} * c.context * c.kv_heads * c.head_dim);
    v_.resize(k_.size());
    for (float& q : q_) q = random.uniform(-2.0f, 2.0f);
    for (float& k : k_) k = random.uniform(-2.0f, 2.0f);
    for (float& v : v_) v = random.uniform(-1.0f, 1.0f);
    round_as_stored(k_);
    round_as_stored(v_);
    if (dtype_ == DType::i8) {
      // Neighbours' sum is no more than the largest: their bytes are the same if they share its levels. One
      // of a head's first two elements is the largest, the other 0, by turns.
      for (size_t i = 0; i < q_.size(); ++i) {
        const size_t element = i % c.head_dim, largest = i / c.head_dim % 2;
        q_[i] = element == largest ? copysignf(2.0f, q_[i]) : element < 2 ? 0.0f : 0.49f * q_[i];
      }
      round_as_stored(q_);
    }
    for (const GuardedBuffer* cache : {&keys_, &values_}) memset(cache->data(), 0xFF, cache->bytes());  // NaN
    for (uint32_t s = 0; s < 2; ++s) {
      for (uint32_t p = 0; p < c.context; ++p) store(s, p);
    }
  }

  uint32_t heads() const { return case_.kv_heads * case_.ratio; }
  uint32_t sequence(size_t t) const { return case_.two_sequences ? static_cast<uint32_t>(t) % 2 : 0; }
  uint32_t position(size_t t) const { return case_.context - case_.rows + static_cast<uint32_t>(t); }
  uint32_t last_seen(size_t t) const { return case_.bidirectional ? case_.context - 1 : position(t); }
  uint32_t first_seen(size_t t) const {
    return case_.window != 0 && last_seen(t) + 1 > case_.window ? last_seen(t) + 1 - case_.window : 0;
  }
  uint32_t seen(size_t t) const { return last_seen(t) + 1 - first_seen(t); }
  float bias(size_t t, uint32_t h, uint32_t p) const {
    if (!case_.bias) return 0.0f;
    return bias_.data<float>()[h * (2 * size_t{case_.context} - 1) + p + case_.context - 1 - position(t)];
  }

  float* k(uint32_t s, uint32_t p) { return &k_[(s * case_.context + p) * case_.kv_heads * case_.head_dim]; }
  float* v(uint32_t s, uint32_t p) { return &v_[(s * case_.context + p) * case_.kv_heads * case_.head_dim]; }

  /// The first query of row t.
  const float* query(size_t t) const {
    return &q_[(sequence(t) * case_.context + position(t)) * heads() * case_.head_dim];
  }
  void set_queries(float element) { std::fill(q_.begin(), q_.end(), element); }

  /// Copies a position's key and value to the cache.
  void store(uint32_t s, uint32_t p) {
    if (dtype_ == DType::i8) return store_bytes(s, p);
    const size_t slot = p % capacity_, packed = dtype_ == DType::bf16 ? 2 : 1;
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t head = (s * case_.kv_heads + g) * size_t{capacity_} * case_.head_dim;
      for (uint32_t e = 0; e < case_.head_dim; ++e) {
        const size_t block = slot / 16 * 16 * case_.head_dim;
        const size_t key = block + (e / packed * 16 + slot % 16) * packed + e % packed;
        const size_t value = (slot / packed * case_.head_dim + e) * packed + slot % packed;
        put(keys_, head + key, k(s, p)[g * case_.head_dim + e]);
        put(values_, head + value, v(s, p)[g * case_.head_dim + e]);
      }
    }
  }

  /// Copies it to a cache of i8.
  void store_bytes(uint32_t s, uint32_t p) {
    const uint32_t width = case_.head_dim, lane = p % capacity_ % 16;
    const size_t block_bytes = 16 * kv_bytes(dtype_, width);
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t block = ((s * case_.kv_heads + g) * capacity_ + p % capacity_) / 16 * block_bytes;
      const Bytes key = bytes_of(k(s, p) + g * width), value = bytes_of(v(s, p) + g * width);
      memcpy(keys_.data() + block + lane * 4, &key.scale, 4);
      memcpy(values_.data() + block + lane * 4, &value.scale, 4);
      for (uint32_t e = 0; e < width; ++e) {
        keys_.data<uint8_t>()[block + 64 + (e / 4 * 16 + lane) * 4 + e % 4] =
            static_cast<uint8_t>(key.q[e] + 128);
        values_.data<int8_t>()[block + 64 + (lane / 4 * width + e) * 4 + lane % 4] = value.q[e];
      }
    }
  }

  /// Rows first..first + n - 1 of the case; by_segments: a unit sees one segment, and what they give is
  /// merged.
  void run(const KernelEntry& entry, GuardedRows& out, uint32_t first, uint32_t n, Split split = Split::whole,
           bool by_segments = false) const {
    std::vector<int32_t> positions(n), last(n), sequences(n);
    GuardedRows q(n, heads() * case_.head_dim, case_.edge);
    q.fill([&](size_t t, size_t i) { return query(first + t)[i]; });
    for (uint32_t t = 0; t < n; ++t) {
      positions[t] = static_cast<int32_t>(position(first + t));
      last[t] = static_cast<int32_t>(last_seen(first + t));
      sequences[t] = static_cast<int32_t>(sequence(first + t));
    }
    const KvCacheView cache = {keys_.data(), values_.data(), capacity_, case_.kv_heads, case_.head_dim};
    AttentionArgs args = {cache,
                          heads(),
                          case_.window,
                          scale(),
                          case_.bias ? bias_.data<float>() : nullptr,
                          case_.context,
                          n,
                          positions.data(),
                          last.data(),
                          sequences.data(),
                          q.const_view(),
                          out.view(),
                          0,
                          nullptr};
    const uint32_t units = case_.kv_heads * ((n + kAttentionRowBlock - 1) / kAttentionRowBlock);
    const size_t scratch = attention_scratch_bytes(case_.ratio, case_.head_dim);
    if (!by_segments) return run_kernel(entry, args, units, split, scratch);
    args.segments = (case_.context + kAttentionSegment - 1) / kAttentionSegment;
    const size_t floats = n * heads() * args.segments * attention_partial_floats(case_.head_dim);
    const GuardedBuffer partials(floats * sizeof(float), Edge::end);
    memset(partials.data(), 0xFF, partials.bytes());
    args.partials = partials.data<float>();
    run_kernel(entry, args, units * args.segments, split, scratch);
    run_kernel<AttentionMergeArgs>(*find_kernel(Op::kAttentionMerge, DType::f32, DType::f32, Isa::kRef), args,
                                   n, split);
  }
  void run(const KernelEntry& entry, GuardedRows& out, Split split = Split::whole) const {
    run(entry, out, 0, case_.rows, split);
  }

  /// The weights of row t and query head h, of which the largest is 1.
  std::vector<double> weights(size_t t, uint32_t h) {
    const uint32_t first = first_seen(t), width = case_.head_dim, column = h / case_.ratio * width;
    const float* q = query(t) + h * width;
    std::vector<double> weights(seen(t));
    for (uint32_t p = 0; p < weights.size(); ++p) {
      double dot = 0;
      const float* key = k(sequence(t), first + p) + column;
      for (uint32_t e = 0; e < width; ++e) dot += static_cast<double>(q[e]) * static_cast<double>(key[e]);
      weights[p] = dot * static_cast<double>(scale()) + static_cast<double>(bias(t, h, first + p));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight = exp(weight - largest);
    return weights;
  }
  double sum_of_weights(size_t t, uint32_t h) {
    const std::vector<double> all = weights(t, h);
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

  /// Softmax over the scores of row t and query head h, times the values.
  std::vector<double> exact(size_t t, uint32_t h) {
    const uint32_t first = first_seen(t), width = case_.head_dim, column = h / case_.ratio * width;
    const std::vector<double> weights = this->weights(t, h);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> out(width);
    for (uint32_t p = 0; p < weights.size(); ++p) {
      const float* value = v(sequence(t), first + p) + column;
      for (uint32_t e = 0; e < width; ++e) out[e] += weights[p] / total * static_cast<double>(value[e]);
    }
    return out;
  }

 private:
  /// A key, value or query of a head as bytes.
  struct Bytes {
    float scale;
    std::vector<int8_t> q;
  };
  Bytes bytes_of(const float* x) const {
    float largest = 0.0f;
    for (uint32_t e = 0; e < case_.head_dim; ++e)
      largest = isnan(x[e]) ? INFINITY : fmaxf(largest, fabsf(x[e]));
    Bytes bytes = {isinf(largest) ? NAN : largest / 127.0f, std::vector<int8_t>(case_.head_dim)};
    const float inverse = isinf(largest) || largest == 0.0f ? 0.0f : 127.0f / largest;
    for (uint32_t e = 0; e < case_.head_dim; ++e) {
      if (inverse != 0.0f) bytes.q[e] = static_cast<int8_t>(nearbyintf(x[e] * inverse));
    }
    return bytes;
  }

  size_t element_bytes() const { return dtype_ == DType::f32 ? 4 : 2; }
  size_t cache_bytes() const {
    return size_t{2} * case_.kv_heads * capacity_ * kv_bytes(dtype_, case_.head_dim);
  }
  float scale() const { return 1.0f / sqrtf(static_cast<float>(case_.head_dim)); }
  void round_as_stored(std::vector<float>& of_heads) const {
    for (size_t head = 0; head < of_heads.size(); head += case_.head_dim) {
      const Bytes bytes = bytes_of(&of_heads[head]);
      for (uint32_t e = 0; e < case_.head_dim; ++e) {
        float& x = of_heads[head + e];
        x = dtype_ == DType::i8     ? bytes.scale * static_cast<float>(bytes.q[e])
            : dtype_ == DType::bf16 ? f32_from_bf16(bf16_from_f32(x))
                                    : f32_from_f16(f16_from_f32(x));
      }
    }
  }
  void put(const GuardedBuffer& buffer, size_t index, float value) const {
    const uint16_t half = dtype_ == DType::bf16 ? bf16_from_f32(value).bits : f16_from_f32(value);
    const void* element = dtype_ == DType::f32 ? static_cast<const void*>(&value) : &half;
    memcpy(buffer.data() + index * element_bytes(), element, element_bytes());
  }

  Case case_;
  DType dtype_;
  uint32_t capacity_;
  GuardedBuffer keys_, values_, bias_;
  std::vector<float> q_, k_, v_;
};

/// Of out, relative to the largest value, beside a reference that rounds neither queries nor weights. Queries
/// and keys are up to 2.
double rounding_to_bf16(const KernelEntry& entry, uint32_t head_dim) {
  if (entry.b != DType::bf16) return 0.0;
  const double score = sqrt(head_dim) * 2 * 2 * 0x1p-9;
  return 2 * score + 2 * (0x1p-9 + 0x1p-13);
}

/// Half a step of weights that become bytes, of the largest.
double half_step(const KernelEntry& entry) { return 1.0 / (entry.isa == Isa::kAvx2 ? 255 : 510); }

/// The same of weights that become bytes, of row t and query head h. They are computed to 2^-13.
double rounding_to_bytes(const KernelEntry& entry, Scene* scene, size_t t, uint32_t h) {
  return scene->seen(t) * half_step(entry) / scene->sum_of_weights(t, h) + 2 * 0x1p-13;
}

void check_case(const KernelEntry& entry, const Case& c, Split split = Split::whole) {
  if (entry.b == DType::bf16 && c.head_dim % 2 != 0) return;
  if (entry.b == DType::i8 && c.head_dim % 4 != 0) return;
  INFO("T " << c.rows << ", G " << c.kv_heads << ", H/G " << c.ratio << ", E " << c.head_dim << ", context "
            << c.context << ", window " << c.window << (c.bidirectional ? ", bidirectional" : "")
            << (c.bias ? ", bias" : ""));
  Scene scene(entry.b, c);
  const size_t width = scene.heads() * c.head_dim;
  GuardedRows out(c.rows, width, c.edge);
  scene.run(entry, out, split);
  if (is_reference(entry)) {
    std::vector<std::vector<double>> heads;
    for (size_t t = 0; t < c.rows; ++t) {
      for (uint32_t h = 0; h < scene.heads(); ++h) heads.push_back(scene.exact(t, h));
    }
    check_within(
        out, [&](size_t t, size_t i) { return heads[t * scene.heads() + i / c.head_dim][i % c.head_dim]; },
        [&](size_t t, size_t) { return (scene.seen(t) + 4.0 * c.head_dim + 32) * 0x1p-23; });
  } else {
    GuardedRows expected(c.rows, width, Edge::start);
    scene.run(reference_of(entry), expected);
    std::vector<double> rounding(c.rows * scene.heads(), rounding_to_bf16(entry, c.head_dim));
    for (uint32_t i = 0; i < rounding.size() && entry.b == DType::i8; ++i)
      rounding[i] = rounding_to_bytes(entry, &scene, i / scene.heads(), i % scene.heads());
    check_within(
        out, [&](size_t t, size_t i) { return static_cast<double>(expected[t][i]); },
        [&](size_t t, size_t i) {
          return rounding[t * scene.heads() + i / c.head_dim] + (scene.seen(t) + 32) * 0x1p-23;
        });
  }
}

}  // namespace

TEST("attention meets softmax at every head width, ratio of heads and context", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t head_dim : {1u, 7u, 8u, 10u, 12u, 16u, 24u, 64u, 80u}) {
      for (const uint32_t ratio : {1u, 2u, 3u, 5u}) {
        for (const uint32_t context : {1u, 15u, 16u, 17u, 127u, 128u, 129u, 300u}) {
          check_case(entry, {1, ratio, 2, head_dim, context});
          if (context >= 5)
            check_case(entry, {5, ratio, 1, head_dim, context, 0, Edge::start}, Split::halves);
        }
      }
    }
  });
}

TEST("attention meets softmax for every number of rows", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (uint32_t rows = 0; rows <= 34; ++rows) check_case(entry, {rows, 2, 2, 12, 150});
    check_case(entry, {150, 3, 1, 16, 150});
  });
}

TEST("attention sees a window's positions alone, in a ring that wraps", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {1u, 2u, 16u, 100u, 128u, 129u, 250u}) {
      for (const uint32_t rows : {1u, 5u, 33u}) {
        for (const uint32_t context : {33u, 128u, 129u, 300u, 517u, 640u}) {
          check_case(entry, {rows, 2, 2, entry.b == DType::i8 ? 12u : 10u, context, window});
        }
      }
    }
  });
}

TEST("attention sees all positions of the sequence where it is bidirectional, with and without a bias",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t head_dim : {8u, 12u, 32u}) {
      for (const uint32_t context : {1u, 7u, 16u, 23u, 128u, 129u, 300u}) {
        if (context > 129 && head_dim != 12) continue;  // the reference takes its time
        for (const bool bias : {false, true}) {
          check_case(entry, {context, 1, 3, head_dim, context, 0, Edge::end, false, true, bias});
          check_case(entry, {context, 2, 1, head_dim, context, 0, Edge::start, true, true, bias},
                     Split::halves);
        }
      }
    }
  });
}

TEST("attention adds a bias to causal scores and those of a window too", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {0u, 5u, 100u}) {
      for (const uint32_t context : {20u, 140u, 300u}) {
        check_case(entry, {17, 2, 2, 12, context, window, Edge::end, false, false, true});
      }
    }
  });
}

TEST("attention keeps the sequences of a batch apart", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t context : {20u, 140u}) check_case(entry, {17, 3, 2, 12, context, 0, Edge::end, true});
  });
}

TEST("attention gives a row the same bits alone and among others, however the work is split", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t window : {0u, 50u, 540u}) {  // the last stands for all positions, before and after
      for (const uint32_t head_dim : {12u, 64u}) {
        for (const uint32_t ratio : {1u, 3u, 4u}) {
          const bool all_seen = window == 540;
          const Case c{33,        ratio, 2,        head_dim, 540, all_seen ? 0 : window,
                       Edge::end, false, all_seen, all_seen};
          INFO("window " << window << ", E " << head_dim << ", H/G " << ratio);
          const Scene scene(entry.b, c);
          const size_t width = scene.heads() * head_dim;
          GuardedRows all(c.rows, width, Edge::end);
          scene.run(entry, all);
          for (const Split split : kSplits) {
            GuardedRows out(c.rows, width, Edge::end);
            scene.run(entry, out, split);
            check_same_bits(all, out);
            GuardedRows merged(c.rows, width, Edge::end);
            scene.run(entry, merged, 0, c.rows, split, true);
            check_same_bits(all, merged);
          }
          for (uint32_t n : {1u, 2u, 7u}) {
            for (uint32_t first = 0; first + n <= c.rows; first += n == 7 ? 7 : 5) {
              GuardedRows some(n, width, Edge::end);
              scene.run(entry, some, first, n);
              for (uint32_t t = 0; t < n; ++t) TEST_ASSERT_EQUAL_MEMORY(all[first + t], some[t], width * 4);
            }
          }
        }
      }
    }
  });
}

TEST("attention gives NaN to the queries that see a NaN, and to no other", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const bool in_key : {false, true}) {
      const Case c{19, 2, 2, 12, 145};
      Scene scene(entry.b, c);
      const bool all_columns = entry.b == DType::i8;  // share a scale
      const uint32_t poisoned = 135;                  // seen by the rows from 9 on
      (in_key ? scene.k(0, poisoned) : scene.v(0, poisoned))[12 + 3] = NAN;
      scene.store(0, poisoned);
      GuardedRows out(c.rows, 4 * 12, Edge::end);
      scene.run(entry, out);
      for (size_t t = 0; t < c.rows; ++t) {
        for (size_t i = 0; i < 48; ++i) {
          const bool sees =
              scene.position(t) >= poisoned && i >= 24 && (in_key || all_columns || i % 12 == 3);
          if (isnan(out[t][i]) != sees)
            TEST_FAIL_MESSAGE("row " << t << ", column " << i << " is " << out[t][i]);
        }
      }
    }
  });
}

#if defined(__x86_64__)
TEST("attention's exponential of weights that are rounded is within 2^-13", "[attention]") {
  if (!isa_available(Isa::kAvx512Vnni)) return;
  for (const RoughExp rough_exp : kRoughExps) {
    for (const float largest : {0.0f, -3.7f, 90.0f}) {
      float x[16], weights[16];
      for (int step = 0; step < 87 * 64; step += 16) {
        for (int i = 0; i < 16; ++i) x[i] = largest - static_cast<float>(step + i) / 64.0f;
        rough_exp(x, largest, weights);
        for (int i = 0; i < 16; ++i) {
          const double exact = exp(static_cast<double>(x[i]) - static_cast<double>(largest));
          TEST_ASSERT_TRUE(fabs(static_cast<double>(weights[i]) - exact) <= exact * 0x1p-13);
        }
      }
      for (float& each : x) each = -INFINITY;
      x[1] = NAN;
      rough_exp(x, largest, weights);
      TEST_ASSERT_TRUE(weights[0] >= 0.0f && weights[0] <= 0x1p-126f);
      TEST_ASSERT_TRUE(isnan(weights[1]));
    }
  }
}
#endif

TEST("attention over bytes adds up the largest queries, keys, weights and values without an overflow",
     "[attention]") {
  each_attention([](const KernelEntry& entry) {
    if (entry.b != DType::i8) return;
    for (const float sign : {1.0f, -1.0f}) {
      // Scores of 0, whose weights are all the largest, and of +-2.
      for (const float magnitude : {0.0f, 0.5f}) {
        const Case c{5, 2, 1, 16, 150};
        Scene scene(entry.b, c);
        scene.set_queries(sign * magnitude);
        for (uint32_t p = 0; p < c.context; ++p) {
          for (uint32_t e = 0; e < c.head_dim; ++e) {
            scene.k(0, p)[e] = p % 8 < 5 ? 1.0f : -1.0f;
            scene.v(0, p)[e] = e % 4 == 0 ? 1.0f : e % 4 == 1 ? -1.0f : p % 8 < 5 ? 1.0f : -1.0f;
          }
          scene.store(0, p);
        }
        GuardedRows out(c.rows, scene.heads() * c.head_dim, Edge::end);
        scene.run(entry, out);
        check_within(
            out,
            [&](size_t t, size_t i) {
              return scene.exact(t, static_cast<uint32_t>(i / c.head_dim))[i % c.head_dim];
            },
            [&](size_t t, size_t i) {
              const double score_step = is_reference(entry) ? 0.0 : 4.0 * half_step(entry);
              return rounding_to_bytes(entry, &scene, t, static_cast<uint32_t>(i / c.head_dim)) +
                     2 * score_step + (scene.seen(t) + 32) * 0x1p-23;
            });
      }
    }
  });
}

TEST("attention to one dominant key returns its value", "[attention]") {
  each_attention([](const KernelEntry& entry) {
    for (const uint32_t dominant : {0u, 100u, 128u, 199u}) {
      const Case c{1, 1, 1, 8, 200};
      Scene scene(entry.b, c);
      for (uint32_t p = 0; p < c.context; ++p) {
        for (uint32_t e = 0; e < 8; ++e) scene.k(0, p)[e] = 0.0f;
        scene.store(0, p);
      }
      const std::vector<double> before = scene.exact(0, 0);
      for (uint32_t e = 0; e < 8; ++e) scene.k(0, dominant)[e] = scene.query(0)[e] * 16384.0f;
      scene.store(0, dominant);
      GuardedRows out(1, 8, Edge::end);
      scene.run(entry, out);
      for (uint32_t e = 0; e < 8; ++e) {
        const double beside =
            fabs(static_cast<double>(out[0][e]) - static_cast<double>(scene.v(0, dominant)[e]));
        TEST_ASSERT_TRUE(beside <= (entry.b == DType::i8 ? 1.0 / 510 : 0.0));
        TEST_ASSERT_GREATER_THAN(1e-3, fabs(before[e] - static_cast<double>(out[0][e])));
      }
    }
  });
}

}  // namespace mote::test
