// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/memory.h"

#include <string.h>

namespace mote {
namespace {

constexpr uint32_t kBlock = 16;  // positions whose columns lie together (kernels/ops.h)

/// How the columns of keys lie in a block: units of so many bytes, [units][kBlock].
struct KeyUnits {
  uint32_t bytes, units;
};

KeyUnits key_units(DType dtype, uint32_t width) {
  if (dtype == DType::f16) return {2, width};
  if (dtype == DType::f32) return {4, width};
  return {4, dtype == DType::i8 ? 1 + width / 4 : width / 2};  // scales and quads, or pairs
}

/// Bytes before the KV head's positions of a page.
size_t start_of(const KvCacheView& cache, uint32_t page, uint32_t head, DType dtype, uint32_t width) {
  return static_cast<size_t>(cache.head_of_page(page, head) * cache.page_positions * kv_bytes(dtype, width));
}

/// A key's place in its cache.
struct Place {
  uint32_t page, at;  // at: in the page
};

Place place_of(const KvCacheView& cache, uint32_t sequence, uint32_t position) {
  return {cache.page_of(sequence, position / kAttentionTile), position % kAttentionTile};
}

void copy_key(const KvCacheView& cache, DType dtype, uint32_t head, Place from, Place to) {
  const KeyUnits keys = key_units(dtype, cache.key_dim);
  const auto block = [&](Place place) {
    return static_cast<uint8_t*>(cache.keys) + start_of(cache, place.page, head, dtype, cache.key_dim) +
           size_t{place.at} / kBlock * kBlock * keys.units * keys.bytes + place.at % kBlock * keys.bytes;
  };
  const uint8_t* source = block(from);
  uint8_t* target = block(to);
  for (size_t unit = 0; unit < keys.units; ++unit)
    memcpy(target + unit * kBlock * keys.bytes, source + unit * kBlock * keys.bytes, keys.bytes);
}

/// Element `column` of a value is at data[column * stride].
struct ValueElements {
  uint8_t* data;
  size_t stride, bytes;
  uint8_t* scale;  // or null
};

ValueElements value_at(const KvCacheView& cache, DType dtype, uint32_t head, Place place) {
  const size_t width = cache.value_dim;
  uint8_t* page =
      static_cast<uint8_t*>(cache.values) + start_of(cache, place.page, head, dtype, cache.value_dim);
  if (dtype == DType::i8) {  // of a block the scales, then quads of columns of four positions each
    uint8_t* block = page + size_t{place.at} / kBlock * kBlock * (width + sizeof(float));
    const size_t in_block = place.at % kBlock;
    return {block + kBlock * sizeof(float) + in_block / 4 * width * 4 + in_block % 4, 4, 1,
            block + in_block * sizeof(float)};
  }
  if (dtype == DType::bf16)
    return {page + size_t{place.at} / 2 * width * 4 + place.at % 2 * 2, 4, 2, nullptr};
  const size_t bytes = dtype == DType::f32 ? 4 : 2;
  return {page + place.at * width * bytes, bytes, bytes, nullptr};
}

void copy_value(const KvCacheView& cache, DType dtype, uint32_t head, Place from, Place to) {
  const ValueElements source = value_at(cache, dtype, head, from), target = value_at(cache, dtype, head, to);
  for (size_t column = 0; column < cache.value_dim; ++column)
    memcpy(target.data + column * target.stride, source.data + column * source.stride, source.bytes);
  if (source.scale != nullptr) memcpy(target.scale, source.scale, sizeof(float));
}

}  // namespace

void move_to_front(const KvCacheView& cache, DType dtype, uint32_t sequence, uint32_t dropped,
                   uint32_t count) {
  for (uint32_t p = 0; p < count; ++p) {
    const Place from = place_of(cache, sequence, p + dropped), to = place_of(cache, sequence, p);
    for (uint32_t head = 0; head < cache.kv_heads; ++head) {
      copy_key(cache, dtype, head, from, to);
      copy_value(cache, dtype, head, from, to);
    }
  }
}

uint32_t memory_of(const mote_model& model) {
  for (const file::State* state : *model.root->states()) {
    if (state->memory() != 0) return state->memory();
  }
  return 0;
}

void take_memory(Arena& arena, mote_session* s) {
  s->kept = nullptr;
  if (memory_of(*s->model) == 0) return;
  s->kept = arena.take<uint32_t>(s->options.batch);
  s->memory_positions = arena.take<int32_t>(s->options.chunk);
  s->memory_last = arena.take<int32_t>(s->options.chunk);
}

void begin_memory(mote_session* session, bool continues) {
  if (session->kept == nullptr || continues) return;
  for (uint32_t i = 0; i < session->options.batch; ++i) session->kept[i] = 0;
}

void place_behind_memory(mote_session* session, uint32_t sequence, uint32_t first, uint32_t length) {
  if (session->kept == nullptr) return;
  const uint32_t before = session->kept[sequence];
  for (uint32_t i = 0; i < length; ++i) {
    session->memory_positions[first + i] = static_cast<int32_t>(before + i);
    session->memory_last[first + i] = static_cast<int32_t>(before + length - 1);
  }
}

void keep_memory(mote_session* session) {
  const uint32_t memory = memory_of(*session->model);
  for (uint32_t i = 0; memory != 0 && i < session->run.sequences; ++i) {
    const uint32_t all = session->kept[i] + session->starts[i + 1] - session->starts[i];
    const auto* states = session->model->root->states();
    for (uint32_t state = 0; all > memory && state < states->size(); ++state) {
      if (states->Get(state)->memory() != 0)
        move_to_front(session->caches[state], session->kv_dtype, i, all - memory, memory);
    }
    session->kept[i] = all < memory ? all : memory;
  }
}

}  // namespace mote
