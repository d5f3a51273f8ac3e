// SPDX-License-Identifier: Apache-2.0
//
// The operands of attention, with what it is in double precision.
#pragma once

#include <algorithm>
#include <numeric>

#include "schema/bf16.h"
#include "tests/support/attention_biases.h"

namespace mote::testing {

/// Queries, keys and values of two sequences, those that a row sees in pages of a cache, in scrambled order.
/// The table has no page for the tiles before and behind these.
class AttentionScene {
 public:
  AttentionScene(DType dtype, const AttentionCase& c)
      : case_(c),
        dtype_(dtype),
        page_positions_(c.context > kAttentionTile ? kAttentionTile
                                                   : static_cast<uint32_t>(align_up(c.context, 16))),
        tiles_(c.context > kAttentionTile ? (c.context - 1) / kAttentionTile + 2 : 1),
        pages_(size_t{2} * tiles_ * sizeof(uint32_t), Edge::end),
        keys_(cache_bytes(c.key_dim), Edge::end),
        values_(cache_bytes(value_dim()), Edge::end),
        bias_(c.bias ? size_t{heads()} * (2 * size_t{c.context} - 1) * sizeof(float) : 0, Edge::end),
        relative_keys_(c.relative_keys ? relative_bytes() : 0, Edge::end),
        relative_queries_(c.relative_queries ? relative_bytes() : 0, Edge::start),
        slopes_(has_slopes() ? heads() * sizeof(float) : 0, Edge::end),
        sinks_(c.sinks ? heads() * sizeof(float) : 0, Edge::end) {
    for (uint32_t h = 0; h < heads(); ++h) {  // of 8 significant bits, as Falcon's
      if (has_slopes())
        slopes_.data<float>()[h] = f32_from_bf16(bf16_from_f32(0.37f / static_cast<float>(h + 1)));
      if (c.sinks) sinks_.data<float>()[h] = static_cast<float>(h % 4) - 0.5f;
    }
    Random random(c.key_dim * 1000 + c.context);
    for (size_t i = 0; i < bias_.bytes() / sizeof(float); ++i)
      bias_.data<float>()[i] = random.uniform(-2.0f, 2.0f);
    for (const GuardedBuffer* table : {&relative_keys_, &relative_queries_}) {
      for (size_t i = 0; i < table->bytes() / sizeof(float); ++i)
        table->data<float>()[i] = random.uniform(-1.0f, 1.0f);
    }
    q_.resize(size_t{2} * c.context * heads() * c.key_dim);
    k_.resize(size_t{2} * c.context * c.kv_heads * c.key_dim);
    v_.resize(size_t{2} * c.context * c.kv_heads * value_dim());
    for (float& q : q_) q = random.uniform(-2.0f, 2.0f);
    for (float& k : k_) k = random.uniform(-2.0f, 2.0f);
    for (float& v : v_) v = random.uniform(-1.0f, 1.0f);
    round_as_stored(k_, c.key_dim);
    round_as_stored(v_, value_dim());
    if (dtype_ == DType::i8) {
      // Neighbours' sum is no more than the largest: their bytes are the same if they share its levels. One
      // of a head's first two elements is the largest, the other 0, by turns.
      for (size_t i = 0; i < q_.size(); ++i) {
        const size_t element = i % c.key_dim, largest = i / c.key_dim % 2;
        q_[i] = element == largest ? copysignf(2.0f, q_[i]) : element < 2 ? 0.0f : 0.49f * q_[i];
      }
      round_as_stored(q_, c.key_dim);
    }
    for (const GuardedBuffer* cache : {&keys_, &values_}) memset(cache->data(), 0xFF, cache->bytes());  // NaN
    take_pages(random);
    for (uint32_t s = 0; s < 2; ++s) {
      for (uint32_t p = first_stored(); p < c.context; ++p) store(s, p);
    }
  }

  uint32_t value_dim() const { return case_.value_dim == 0 ? case_.key_dim : case_.value_dim; }
  /// Of a row of outputs.
  size_t out_width() const { return size_t{heads()} * value_dim(); }
  uint32_t heads() const { return case_.kv_heads * case_.ratio; }
  uint32_t sequence(size_t t) const { return case_.two_sequences ? static_cast<uint32_t>(t) % 2 : 0; }
  uint32_t position(size_t t) const { return case_.context - case_.rows + static_cast<uint32_t>(t); }
  uint32_t last_seen(size_t t) const { return case_.bidirectional ? case_.context - 1 : position(t); }
  uint32_t first_seen(size_t t) const {
    if (case_.group != 0) return position(t) / case_.group * case_.group;
    if (case_.globals != 0) return 0;
    if (case_.sides != 0) return position(t) > case_.sides ? position(t) - case_.sides : 0;
    return case_.window != 0 && last_seen(t) + 1 > case_.window ? last_seen(t) + 1 - case_.window : 0;
  }
  uint32_t seen(size_t t) const {
    const bool to_end = case_.sides == 0 || case_.globals != 0;
    uint32_t last = to_end ? UINT32_MAX : position(t) + case_.sides;
    if (case_.group != 0) last = first_seen(t) + case_.group - 1;
    return std::min(last, last_seen(t)) + 1 - first_seen(t);
  }
  float bias(size_t t, uint32_t h, uint32_t p) const {
    if (!case_.bias) return 0.0f;
    return bias_.data<float>()[h * (2 * size_t{case_.context} - 1) + p + case_.context - 1 - position(t)] +
           more_of_window(case_, window_kind(case_, position(t)), p);
  }

  /// The products that ScoreKind::relative adds before the scale.
  double relative(size_t t, uint32_t h, uint32_t p) {
    const size_t columns = 2 * size_t{case_.context} - 1, at = p + case_.context - 1 - position(t);
    const float *q = query(t) + h * case_.key_dim, *key = k(sequence(t), p) + h / case_.ratio * case_.key_dim;
    double sum = 0;
    for (uint32_t e = 0; e < case_.key_dim; ++e) {
      const size_t place = (size_t{h} * case_.key_dim + e) * columns + at;
      if (case_.relative_keys)
        sum += static_cast<double>(q[e]) * static_cast<double>(relative_keys_.data<float>()[place]);
      if (case_.relative_queries)
        sum += static_cast<double>(relative_queries_.data<float>()[place]) * static_cast<double>(key[e]);
    }
    return sum;
  }

  bool is_global(uint32_t p) const { return case_.globals != 0 && p % case_.globals == case_.globals / 2; }

  /// How often the key at p counts, of a sparse kind of scores.
  double times_seen(size_t t, uint32_t p) const {
    if (case_.globals != 0) return is_global(p) || p + case_.sides - position(t) <= 2 * case_.sides ? 1 : 0;
    const uint32_t own = position(t) / case_.block, last = last_seen(t) / case_.block,
                   other = p / case_.block;
    const bool all = last_seen(t) < (5 + 2 * case_.random_blocks) * case_.block || own == 0 || own == last;
    if (all) return 1;
    const bool next = other + 1 >= own && other <= own + 1;
    return (other == 0 ? 1 + case_.random_blocks : other == last || next ? 1 : 0);
  }

  float* k(uint32_t s, uint32_t p) { return &k_[(s * case_.context + p) * case_.kv_heads * case_.key_dim]; }
  float* v(uint32_t s, uint32_t p) { return &v_[(s * case_.context + p) * case_.kv_heads * value_dim()]; }

  /// The first query of row t.
  const float* query(size_t t) const {
    return &q_[(sequence(t) * case_.context + position(t)) * heads() * case_.key_dim];
  }
  void set_queries(float element) { std::fill(q_.begin(), q_.end(), element); }

  /// Copies a position's key and value to the cache.
  void store(uint32_t s, uint32_t p) {
    if (dtype_ == DType::i8) return store_bytes(s, p);
    const size_t packed = dtype_ == DType::bf16 ? 2 : 1, place = p % 16;
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t keys = block_of(s, p, g, case_.key_dim) / element_bytes();
      const size_t values = block_of(s, p, g, value_dim()) / element_bytes();
      for (uint32_t e = 0; e < case_.key_dim; ++e)
        put(keys_, keys + (e / packed * 16 + place) * packed + e % packed, k(s, p)[g * case_.key_dim + e]);
      for (uint32_t e = 0; e < value_dim(); ++e)
        put(values_, values + (place / packed * value_dim() + e) * packed + place % packed,
            v(s, p)[g * value_dim() + e]);
    }
  }

  /// Copies it to a cache of i8.
  void store_bytes(uint32_t s, uint32_t p) {
    const uint32_t lane = p % 16;
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t keys = block_of(s, p, g, case_.key_dim), values = block_of(s, p, g, value_dim());
      const HeadBytes key = bytes_of(k(s, p) + g * case_.key_dim, case_.key_dim),
                      value = bytes_of(v(s, p) + g * value_dim(), value_dim());
      set_scale(keys_, keys, lane, key.scale);
      set_scale(values_, values, lane, value.scale);
      for (uint32_t e = 0; e < case_.key_dim; ++e)
        keys_.data<uint8_t>()[key_byte(keys, lane, e)] = static_cast<uint8_t>(key.q[e] + 128);
      for (uint32_t e = 0; e < value_dim(); ++e)
        values_.data<int8_t>()[value_byte(values, lane, e)] = value.q[e];
    }
  }

  /// Fills a position's key and value in a cache of i8 with any bytes, which quantizing does not give.
  void store_any_bytes(uint32_t s, uint32_t p, Random& random) {
    const uint32_t lane = p % 16;
    const auto any = [&random] {
      return random.below(2) == 0 ? -128 : static_cast<int>(random.below(256)) - 128;
    };
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t keys = block_of(s, p, g, case_.key_dim), values = block_of(s, p, g, value_dim());
      const float key_scale = set_scale(keys_, keys, lane, 0x1p-6f),
                  value_scale = set_scale(values_, values, lane, 0x1p-7f);
      for (uint32_t e = 0; e < case_.key_dim; ++e) {
        const int key = any();
        keys_.data<uint8_t>()[key_byte(keys, lane, e)] = static_cast<uint8_t>(key + 128);
        k(s, p)[g * case_.key_dim + e] = key_scale * static_cast<float>(key);
      }
      for (uint32_t e = 0; e < value_dim(); ++e) {
        const int value = any();
        values_.data<int8_t>()[value_byte(values, lane, e)] = static_cast<int8_t>(value);
        v(s, p)[g * value_dim() + e] = value_scale * static_cast<float>(value);
      }
    }
  }
  /// Of a position's key or value in a cache of i8.
  void store_scale(uint32_t s, uint32_t p, bool of_key, float scale) {
    for (uint32_t g = 0; g < case_.kv_heads; ++g) {
      const size_t block = block_of(s, p, g, of_key ? case_.key_dim : value_dim());
      set_scale(of_key ? keys_ : values_, block, p % 16, scale);
    }
  }

  /// Rows first..first + n - 1 of the case; by_segments: a unit sees one segment, and what they give is
  /// merged.
  void run(const KernelEntry& entry, GuardedRows& out, uint32_t first, uint32_t n, Split split = Split::whole,
           bool by_segments = false) const {
    std::vector<int32_t> positions(n), last(n), sequences(n);
    GuardedRows q(n, heads() * case_.key_dim, case_.edge);
    q.fill([&](size_t t, size_t i) { return query(first + t)[i]; });
    for (uint32_t t = 0; t < n; ++t) {
      positions[t] = static_cast<int32_t>(position(first + t));
      last[t] = static_cast<int32_t>(last_seen(first + t));
      sequences[t] = static_cast<int32_t>(sequence(first + t));
    }
    std::vector<int32_t> next(case_.context, kNoGlobal);
    for (uint32_t p = case_.context; p-- > 0;)
      next[p] = is_global(p) ? static_cast<int32_t>(p) : p + 1 < case_.context ? next[p + 1] : kNoGlobal;
    const KvCacheView cache = {keys_.data(),    values_.data(), pages_.data<uint32_t>(), tiles_,
                               page_positions_, case_.kv_heads, case_.key_dim,           value_dim()};
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
                          nullptr,
                          case_.block != 0 ? ScoreKind::blocks
                          : is_near()      ? ScoreKind::globals
                          : is_relative()  ? ScoreKind::relative
                          : case_.bias     ? ScoreKind::biased
                                           : case_.score,
                          case_.score == ScoreKind::capped ? kSoftcap : 0.0f,
                          has_slopes() ? slopes_.data<float>() : nullptr,
                          case_.sinks ? sinks_.data<float>() : nullptr,
                          case_.sides,
                          {},
                          case_.by_position,
                          case_.relative_keys ? relative_keys_.data<float>() : nullptr,
                          case_.relative_queries ? relative_queries_.data<float>() : nullptr,
                          case_.context,
                          case_.block,
                          log1pf(static_cast<float>(case_.random_blocks)),
                          (5 + 2 * case_.random_blocks) * case_.block,
                          case_.globals == 0 ? nullptr : next.data() + position(first),
                          case_.global_queries,
                          case_.group,
                          nullptr,
                          nullptr};
    GuardedRows own(n, case_.row_bias ? heads() * (2 * case_.context - 1) : 1, case_.edge);
    if (case_.row_bias) {
      own.fill([&](size_t, size_t i) { return bias_.data<float>()[i]; });
      args.row_bias = own.const_view();
      args.bias = nullptr;
    }
    const uint32_t context = case_.context;
    GuardedBuffer square(case_.by_position ? size_t{heads()} * context * context * sizeof(float) : 0,
                         Edge::end);
    for (uint32_t i = 0; case_.by_position && i < heads() * context * context; ++i) {
      const uint32_t head = i / context / context, query = i / context % context;
      square.data<float>()[i] =
          bias_.data<float>()[head * (2 * context - 1) + i % context + context - 1 - query];
    }
    if (case_.by_position) args.bias = square.data<float>();
    const GuardedBuffer grouped = biases_by_place(case_, bias_, heads()),
                        windows = biases_of_windows(case_, bias_, heads());
    if (case_.bias && case_.group != 0) args.bias = grouped.data<float>();
    std::vector<uint32_t> kinds(n);
    if (case_.windows) {
      for (uint32_t t = 0; t < n; ++t) kinds[t] = window_kind(case_, position(first + t));
      args.bias = windows.data<float>();
      args.bias_reach = case_.group;
      args.edges = kinds.data();
    }
    const uint32_t units = case_.kv_heads * ((n + kAttentionRowBlock - 1) / kAttentionRowBlock);
    const size_t scratch = attention_scratch(entry, case_.ratio, case_.key_dim, value_dim());
    if (!by_segments) return run_kernel(entry, args, units, split, scratch);
    args.segments = (case_.context + kAttentionSegment - 1) / kAttentionSegment;
    const size_t floats = n * heads() * args.segments * attention_partial_floats(value_dim());
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

  /// What the scaled product of row t, query head h and the key at p becomes.
  double score(size_t t, uint32_t h, uint32_t p, double scaled) const {
    if (case_.block != 0 || is_near()) return scaled + log(times_seen(t, p));
    if (case_.score == ScoreKind::capped) return kSoftcap * tanh(scaled / kSoftcap);
    if (!has_slopes()) return scaled + static_cast<double>(bias(t, h, p));
    const double slope = static_cast<double>(slopes_.data<float>()[h]);
    if (case_.score == ScoreKind::alibi) return scaled - slope * std::abs(double{1} * p - position(t));
    const float product = static_cast<float>(slope * p);
    return scaled + static_cast<double>(scale()) * static_cast<double>(f32_from_bf16(bf16_from_f32(product)));
  }

  /// The weights of row t and query head h, of which the largest is 1; the last is the sink's.
  std::vector<double> weights(size_t t, uint32_t h) {
    const uint32_t first = first_seen(t), width = case_.key_dim, column = h / case_.ratio * width;
    const float* q = query(t) + h * width;
    std::vector<double> weights(seen(t));
    for (uint32_t p = 0; p < weights.size(); ++p) {
      double dot = 0;
      const float* key = k(sequence(t), first + p) + column;
      for (uint32_t e = 0; e < width; ++e) dot += static_cast<double>(q[e]) * static_cast<double>(key[e]);
      if (is_relative()) dot += relative(t, h, first + p);
      weights[p] = score(t, h, first + p, dot * static_cast<double>(scale()));
    }
    if (case_.sinks) weights.push_back(static_cast<double>(sinks_.data<float>()[h]));
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
    const uint32_t first = first_seen(t), width = value_dim(), column = h / case_.ratio * width;
    const std::vector<double> weights = this->weights(t, h);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> out(width);
    for (uint32_t p = 0; p < seen(t); ++p) {
      const float* value = v(sequence(t), first + p) + column;
      for (uint32_t e = 0; e < width; ++e) out[e] += weights[p] / total * static_cast<double>(value[e]);
    }
    return out;
  }

 private:
  static constexpr float kSoftcap = 1.5f;
  bool is_near() const { return case_.globals != 0 && !case_.global_queries; }
  bool is_relative() const { return case_.relative_keys || case_.relative_queries; }
  size_t relative_bytes() const {
    return size_t{heads()} * case_.key_dim * (2 * size_t{case_.context} - 1) * sizeof(float);
  }
  bool has_slopes() const { return case_.score == ScoreKind::alibi || case_.score == ScoreKind::alibi_bf16; }
  /// The first position that some row sees.
  uint32_t first_stored() const { return case_.rows == 0 ? 0 : first_seen(0); }
  uint32_t first_tile() const { return first_stored() / kAttentionTile; }
  uint32_t held() const { return (case_.context - 1) / kAttentionTile + 1 - first_tile(); }

  void take_pages(Random& random) {
    std::vector<uint32_t> numbers(size_t{2} * held());
    std::iota(numbers.begin(), numbers.end(), 0u);
    for (uint32_t i = 1; i < numbers.size(); ++i) std::swap(numbers[i], numbers[random.below(i + 1)]);
    for (uint32_t s = 0; s < 2; ++s) {
      for (uint32_t tile = 0; tile < tiles_; ++tile) {
        const uint32_t place = tile - first_tile();  // wraps before it
        pages_.data<uint32_t>()[s * tiles_ + tile] = place < held() ? numbers[s * held() + place] : kNoPage;
      }
    }
  }

  /// Where the block of 16 positions lies that has this one, in bytes.
  size_t block_of(uint32_t s, uint32_t p, uint32_t g, uint32_t width) const {
    const size_t page = pages_.data<uint32_t>()[s * tiles_ + p / kAttentionTile];
    const size_t position = (page * case_.kv_heads + g) * page_positions_ + p % kAttentionTile / 16 * 16;
    return position * kv_bytes(dtype_, width);
  }
  // The bytes of the position at `lane` in a block of i8.
  size_t key_byte(size_t block, uint32_t lane, uint32_t e) const {
    return block + 64 + (e / 4 * 16 + lane) * 4 + e % 4;
  }
  size_t value_byte(size_t block, uint32_t lane, uint32_t e) const {
    return block + 64 + (lane / 4 * value_dim() + e) * 4 + lane % 4;
  }
  static float set_scale(const GuardedBuffer& cache, size_t block, uint32_t lane, float scale) {
    memcpy(cache.data() + block + lane * 4, &scale, 4);
    return scale;
  }

  size_t element_bytes() const { return dtype_ == DType::f32 ? 4 : 2; }
  size_t cache_bytes(uint32_t width) const {
    return size_t{2} * held() * case_.kv_heads * page_positions_ * kv_bytes(dtype_, width);
  }
  float scale() const { return 1.0f / sqrtf(static_cast<float>(case_.key_dim)); }
  void round_as_stored(std::vector<float>& of_heads, uint32_t width) const {
    for (size_t head = 0; head < of_heads.size(); head += width) {
      const HeadBytes bytes = bytes_of(&of_heads[head], width);
      for (uint32_t e = 0; e < width; ++e) {
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

  AttentionCase case_;
  DType dtype_;
  uint32_t page_positions_, tiles_;
  GuardedBuffer pages_, keys_, values_, bias_, relative_keys_, relative_queries_, slopes_, sinks_;
  std::vector<float> q_, k_, v_;
};

}  // namespace mote::testing
