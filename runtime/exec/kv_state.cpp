// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/kv_state.h"

#include <string.h>

#include "runtime/error.h"

namespace mote {
namespace {

constexpr uint8_t kNoPool = UINT8_MAX;  // of a state that has no pages
static_assert(kMaxWindows < kNoPool);
static_assert(uint64_t{kMaxChunk} * kMaxContext / kAttentionTile < kNoPage, "each page has a number");

/// Sizes of the pool: what the sequences can hold at once, or the positions that the options allow.
PagePool pool_shape(const mote_session& s, uint32_t window) {
  const mote_session_options& options = s.options;
  const bool whole = s.model->encoder;
  const uint32_t context = whole && options.chunk < options.context ? options.chunk : options.context;
  PagePool pool{};
  pool.window = window;
  pool.page_positions = page_positions(context);
  pool.tiles = pages_for(context, pool.page_positions);
  uint64_t pages = uint64_t{options.batch} * most_pages_of_sequence(window, options.chunk, context);
  // A pass of an encoder has at most token_rows tokens, and each sequence begins a page.
  uint64_t most = uint64_t{s.token_rows} / pool.page_positions + options.batch;
  if (!whole) most = options.kv_positions == 0 ? pages : pages_for(options.kv_positions, pool.page_positions);
  pool.holds_all = most >= pages;
  pool.pages = static_cast<uint32_t>(pool.holds_all ? pages : most);
  return pool;
}

uint8_t* page_at(void* pages, uint32_t page, uint64_t bytes) {
  return static_cast<uint8_t*>(pages) + page * bytes;
}

uint64_t page_bytes(const mote_session& s, const KvCacheView& cache, uint32_t width) {
  return uint64_t{cache.kv_heads} * cache.page_positions * kv_bytes(s.kv_dtype, width);
}

void copy_page(mote_session* s, uint32_t pool, const PageCopy& copy) {
  for (uint32_t i = 0; i < s->model->root->states()->size(); ++i) {
    if (s->pool_of[i] != pool) continue;
    const KvCacheView& cache = s->caches[i];
    const uint64_t keys = page_bytes(*s, cache, cache.key_dim),
                   values = page_bytes(*s, cache, cache.value_dim);
    memcpy(page_at(cache.keys, copy.to, keys), page_at(cache.keys, copy.from, keys),
           static_cast<size_t>(keys));
    memcpy(page_at(cache.values, copy.to, values), page_at(cache.values, copy.from, values),
           static_cast<size_t>(values));
  }
}

}  // namespace

void take_pools(Arena& arena, mote_session* s) {
  uint32_t windows[kMaxWindows];
  const auto* states = s->model->root->states();
  s->pool_count = windows_of(*s->model->root, windows);
  s->pools = arena.take<PagePool>(s->pool_count);
  s->pool_of = arena.take<uint8_t>(states->size());
  s->caches = arena.take<KvCacheView>(states->size());
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool pool = pool_shape(*s, windows[p]);
    const uint64_t entries = saturating_multiply(s->options.batch, pool.tiles);
    pool.table = arena.take<uint32_t>(entries);
    pool.next_table = arena.take<uint32_t>(s->options.batch > 1 ? entries : 0);
    pool.holders = arena.take<uint32_t>(pool.pages);
    pool.free_pages = arena.take<uint32_t>(pool.pages);
    pool.used = arena.take<uint32_t>(pool.pages);
    pool.numbers = arena.take<uint32_t>(pool.pages);
    if (s->pools != nullptr) s->pools[p] = pool;
  }
  for (uint32_t i = 0; s->caches != nullptr && i < states->size(); ++i) {
    const file::State* state = states->Get(i);
    s->pool_of[i] = kNoPool;
    s->caches[i] = {};
    if (is_fixed(*state)) continue;
    uint32_t p = 0;
    while (windows[p] != state->window()) ++p;
    s->pool_of[i] = static_cast<uint8_t>(p);
    const PagePool& pool = s->pools[p];
    s->caches[i] = {nullptr,           nullptr,          pool.table,        pool.tiles, pool.page_positions,
                    state->kv_heads(), state->key_dim(), state->value_dim()};
  }
}

void take_caches(Arena& arena, mote_session* s) {
  const auto* states = s->model->root->states();
  for (uint32_t i = 0; i < states->size(); ++i) {
    const file::State* state = states->Get(i);
    if (is_fixed(*state)) continue;
    const PagePool pool = pool_shape(*s, state->window());
    const auto bytes = [&](uint32_t width) {
      return saturating_multiply(pool.pages, state->kv_heads(), pool.page_positions,
                                 kv_bytes(s->kv_dtype, width));
    };
    void* keys = arena.take<uint8_t>(bytes(state->key_dim()));
    void* values = arena.take<uint8_t>(bytes(state->value_dim()));
    if (s->caches == nullptr) continue;
    s->caches[i].keys = keys;
    s->caches[i].values = values;
  }
}

void clear_pages(mote_session* s) {
  for (uint32_t p = 0; p < s->pool_count; ++p) clear_pages(&s->pools[p], s->options.batch);
}

mote_status check_pages(const mote_session* s, const uint32_t* counts, mote_error* error) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const PagePool& pool = s->pools[p];
    if (pool.holds_all) continue;
    uint64_t missing = 0, tokens = 0;
    for (uint32_t sequence = 0; sequence < s->options.batch; ++sequence) {
      missing += pages_missing(pool, sequence, s->lengths[sequence], counts[sequence], s->options.chunk);
      tokens += counts[sequence];
    }
    if (missing <= pool.free_count) continue;
    return fail(error, MOTE_CONTEXT_FULL, tokens, " more tokens take ", missing, " pages of ",
                pool.page_positions, " positions, ", pool.free_count, " of ", pool.pages,
                " are free; truncate sequences or raise kv_positions");
  }
  return MOTE_OK;
}

void hold_pages(mote_session* s) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    for (uint32_t sequence = 0; sequence < s->options.batch; ++sequence) {
      const uint32_t count = s->added[sequence];
      PageCopy copy;
      if (count != 0 && append_pages(&s->pools[p], sequence, s->lengths[sequence], count, &copy)) {
        copy_page(s, p, copy);
      }
    }
  }
}

void hold_pass(mote_session* s, const uint32_t* starts, uint32_t count) {
  clear_pages(s);
  PageCopy none;
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    for (uint32_t i = 0; i < count; ++i) append_pages(&s->pools[p], i, 0, starts[i + 1] - starts[i], &none);
  }
}

void slide_pages(mote_session* s, uint32_t sequence) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    if (s->pools[p].window != 0) slide_pages(&s->pools[p], sequence, s->lengths[sequence]);
  }
}

void trim_pages(mote_session* s, uint32_t sequence) {
  for (uint32_t p = 0; p < s->pool_count; ++p) truncate_pages(&s->pools[p], sequence, s->lengths[sequence]);
}

uint32_t shortest_kv(const mote_session* s, uint32_t sequence) {
  const uint32_t length = s->lengths[sequence];
  uint32_t shortest = length == 0 ? 0 : 1;
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const PagePool& pool = s->pools[p];
    const uint32_t held = pool.window == 0 ? 0 : first_held(pool, sequence, length);
    const uint32_t of_pool = held == 0 ? 0 : held + pool.window - 1;  // its next token sees `held` first
    if (of_pool > shortest) shortest = of_pool;
  }
  return shortest;
}

void reorder_pages(mote_session* s, const uint32_t* from) {
  for (uint32_t p = 0; p < s->pool_count; ++p) reorder_pages(&s->pools[p], s->options.batch, from);
}

}  // namespace mote
