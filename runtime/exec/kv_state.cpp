// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/kv_state.h"

#include <string.h>

#include "runtime/error.h"

namespace mote {
namespace {

constexpr uint8_t kNoPool = UINT8_MAX;  // of a state that has no pages
static_assert(kMaxPools < kNoPool);
static_assert(uint64_t{kMaxChunk} * kMaxContext / kAttentionTile < kNoPage, "each page has a number");

/// Positions of so many rows; none in states of a fixed number of rows, which the program has none of.
uint32_t groups_of(uint32_t rows, uint32_t ratio) { return ratio == 0 ? 0 : (rows + ratio - 1) / ratio; }

/// Returns the program's stream whose rows are places of pictures by the scale; the number of streams if
/// there is none.
uint32_t grid_stream(const file::Program& program, GridScale scale) {
  const uint32_t count = program.streams()->size();
  uint32_t i = 0;
  for (; i < count; ++i) {
    const GridScale of_stream = grid_of(program, i);
    if (of_stream.times == scale.times && of_stream.every == scale.every) break;
  }
  return i;
}

/// Returns the most positions that `sequences` pictures of `patches` patches together have in states of the
/// scale, of any program.
uint32_t most_places(const mote_session& s, GridScale scale, uint32_t patches, uint64_t sequences) {
  uint64_t most = 1;
  for (const file::Program* program : *s.model->root->programs()) {
    const uint32_t stream = grid_stream(*program, scale);
    if (stream == program->streams()->size()) continue;
    const uint32_t least = program->streams()->Get(stream)->grid_least();
    const uint64_t rows = most_grid_rows(scale, least, patches, sequences);
    most = rows > most ? rows : most;
  }
  return most < INT32_MAX ? static_cast<uint32_t>(most) : INT32_MAX;  // check_counts refuses more
}

/// Returns the positions that the run's sequence of that number, of so many tokens, has in states of the
/// kind. The run's program is of whole sequences.
uint32_t positions_of(const mote_session& s, const CacheKind& kind, uint32_t index, uint32_t tokens) {
  const file::Program& program = *current(s).file;
  if (kHasMedia && kind.grid.times != 0) {
    if (grid_stream(program, kind.grid) == program.streams()->size()) return 0;
    const GridSize patches = s.places.grids[index];
    return kind.grid.of(patches.lines) * kind.grid.of(patches.columns);
  }
  const uint32_t ratio = kind.ratio;
  const uint32_t stream = kept_stream(*s.model, program, ratio);
  return stream == program.streams()->size() ? groups_of(tokens, ratio)
                                             : rows_of_sequence(program, stream, tokens);
}

/// The most positions of a sequence.
uint32_t most_positions(const mote_session& s, const CacheKind& kind) {
  if (!kHasWholeSequences || kind.appends()) return s.options.context;
  if (kHasMedia && kind.grid.times != 0) return most_places(s, kind.grid, s.options.chunk, 1);
  uint32_t rows = 0;
  const auto* programs = s.model->root->programs();
  for (uint32_t i = 0; i < programs->size(); ++i) {
    if (!is_whole(*programs->Get(i)) || (kind.source != -1 && static_cast<uint32_t>(kind.source) != i))
      continue;
    const file::Program& program = *programs->Get(i);
    const uint32_t of_program = kind.ratio == 0 ? fixed_rows(program) : most_rows_of_sequence(s, program);
    rows = of_program > rows ? of_program : rows;
  }
  return kind.ratio == 0 ? rows : kind.memory + groups_of(rows, kind.ratio);
}

/// Sizes of the pool: what the sequences can hold at once, or the positions that the options allow.
PagePool pool_shape(const mote_session& s, const CacheKind& kind) {
  const mote_session_options& options = s.options;
  const uint32_t context = most_positions(s, kind);
  PagePool pool{};
  pool.kind = kind;
  pool.window = kind.window;
  pool.positions = context;
  pool.page_positions = page_positions(context);
  pool.tiles = pages_for(context, pool.page_positions);
  const uint64_t pages =
      uint64_t{options.batch} * most_pages_of_sequence(kind.window, options.chunk, context);
  uint64_t most = pages;
  if (kind.of_run) {
    // A run or pass has at most token_rows tokens, and each sequence may end in a part of a group and of a
    // page.
    const uint64_t of_rows = kind.ratio == 0 ? 0 : s.token_rows / kind.ratio;
    const uint64_t positions = of_rows + (kind.ratio == 1 ? 0 : options.batch);
    most = kind.ratio == 0 ? pages : positions / pool.page_positions + options.batch;
    if (kHasMedia && kind.grid.times != 0)
      most = uint64_t{most_places(s, kind.grid, s.token_rows, options.batch)} / pool.page_positions +
             options.batch;
  } else if (kind.appends() && options.kv_positions != 0) {
    most = pages_for(options.kv_positions, pool.page_positions);
  }
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

bool has_relative_queries(const mote_model& model) {
  for (const file::Op* op : *model.program->ops()) {
    const auto* attention = op->args_as_Attention();
    if (attention != nullptr && attention->relative_queries() != -1) return true;
  }
  return false;
}

uint32_t most_rows_of_sequence(const mote_session& s, const file::Program& program) {
  const bool as_texts = s.model->encoder && program.context() == 0;
  const uint32_t context = as_texts ? s.options.context : context_of(*s.model->root, program);
  return context < s.options.chunk ? context : s.options.chunk;
}

void take_pools(Arena& arena, mote_session* s) {
  uint16_t firsts[kMaxPools];
  const auto* states = s->model->root->states();
  s->pool_count = first_of_kinds(*s->model->root, firsts);
  s->pools = arena.take<PagePool>(s->pool_count);
  s->pool_of = arena.take<uint8_t>(states->size());
  s->caches = arena.take<KvCacheView>(states->size());
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const CacheKind kind = cache_kind(*states->Get(firsts[p]));
    PagePool pool = pool_shape(*s, kind);
    const uint64_t entries = saturating_multiply(s->options.batch, pool.tiles);
    pool.table = arena.take<uint32_t>(entries);
    pool.next_table = arena.take<uint32_t>(s->options.batch > 1 ? entries : 0);
    pool.holders = arena.take<uint32_t>(pool.pages);
    pool.free_pages = arena.take<uint32_t>(pool.pages);
    pool.used = arena.take<uint32_t>(pool.pages);
    pool.numbers = arena.take<uint32_t>(pool.pages);
    pool.lengths = kind.appends() ? s->lengths : nullptr;
    if (kind.source != -1) {
      pool.lengths = arena.take<uint32_t>(s->options.batch);
      pool.last_seen = arena.take<int32_t>(s->options.chunk);
    }
    if (s->pools != nullptr) s->pools[p] = pool;
  }
  for (uint32_t i = 0; s->caches != nullptr && i < states->size(); ++i) {
    const file::State* state = states->Get(i);
    s->pool_of[i] = kNoPool;
    s->caches[i] = {};
    if (is_fixed(*state)) continue;
    uint32_t p = 0;
    while (!(s->pools[p].kind == cache_kind(*state))) ++p;
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
    const PagePool pool = pool_shape(*s, cache_kind(*state));
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
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    clear_pages(&pool, s->options.batch);
    if (pool.kind.source != -1) memset(pool.lengths, 0, s->options.batch * sizeof pool.lengths[0]);
  }
}

mote_status check_pages(const mote_session* s, const uint32_t* counts, mote_error* error) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const PagePool& pool = s->pools[p];
    if (pool.holds_all || !pool.kind.appends()) continue;
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
    const PagePool& pool = s->pools[p];
    for (uint32_t row = 0; pool.last_seen != nullptr && row < s->run.rows; ++row) {
      pool.last_seen[row] = static_cast<int32_t>(pool.lengths[s->sequences[row]]) - 1;
    }
    if (!pool.kind.appends()) continue;
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
  PageCopy none;
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const CacheKind& kind = s->pools[p].kind;
    if (kind.memory == 0) clear_pages(&s->pools[p], s->options.batch);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t length = positions_of(*s, kind, s->run.first_sequence + i, starts[i + 1] - starts[i]);
      append_pages(&s->pools[p], i, 0, length + (kind.memory == 0 ? 0 : s->kept[i]), &none);
    }
  }
}

namespace {

/// Calls f(pool, sequence, positions) for the sequences of a run of whole sequences, in the pools of its
/// source or, of_run, those that nothing survives in.
template <class F>
void each_source(mote_session* s, bool of_run, F&& f) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    const bool its_own = pool.kind.source != -1 && static_cast<uint32_t>(pool.kind.source) == s->program;
    if (of_run ? !pool.kind.of_run : !its_own) continue;
    for (uint32_t i = 0; i < s->run.sequences; ++i) {
      const uint32_t rows = s->starts[i + 1] - s->starts[i];
      f(&pool, static_cast<uint32_t>(s->sequences[s->starts[i]]), positions_of(*s, pool.kind, i, rows));
    }
  }
}

}  // namespace

void hold_sources(mote_session* s) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    if (s->pools[p].kind.of_run) clear_pages(&s->pools[p], s->options.batch);
  }
  PageCopy none;
  each_source(s, true, [&](PagePool* pool, uint32_t sequence, uint32_t positions) {
    append_pages(pool, sequence, 0, positions, &none);
  });
  drop_sources(s);
  each_source(s, false, [&](PagePool* pool, uint32_t sequence, uint32_t positions) {
    append_pages(pool, sequence, 0, positions, &none);
  });
}

void keep_sources(mote_session* s) {
  each_source(s, false, [](PagePool* pool, uint32_t sequence, uint32_t positions) {
    pool->lengths[sequence] = positions;
  });
}

void drop_sources(mote_session* s) {
  each_source(s, false, [](PagePool* pool, uint32_t sequence, uint32_t) {
    pool->lengths[sequence] = 0;
    truncate_pages(pool, sequence, 0);
  });
}

mote_status check_sources(const mote_session* s, uint32_t program, const uint32_t* counts,
                          mote_error* error) {
  const uint32_t sources = s->programs[program].sources;
  if (!kHasWholeSequences || sources == 0) return MOTE_OK;
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    const PagePool& pool = s->pools[p];
    if (pool.kind.source == -1 || (sources >> pool.kind.source & 1) == 0) continue;
    for (uint32_t sequence = 0; sequence < s->options.batch; ++sequence) {
      if (counts[sequence] == 0 || pool.lengths[sequence] != 0) continue;
      const auto source = static_cast<uint32_t>(pool.kind.source);
      return fail(error, MOTE_WRONG_STATE, "sequence ", sequence, " has no source: compute program ",
                  s->programs[source].file->name()->c_str(), " for it first");
    }
  }
  return MOTE_OK;
}

void slide_pages(mote_session* s, uint32_t sequence) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    if (s->pools[p].window != 0) slide_pages(&s->pools[p], sequence, s->lengths[sequence]);
  }
}

void trim_pages(mote_session* s, uint32_t sequence) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    if (pool.kind.appends()) truncate_pages(&pool, sequence, pool.lengths[sequence]);
  }
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

void copy_sequence(mote_session* s, uint32_t from, uint32_t to) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    if (pool.kind.of_run) continue;
    share_pages(&pool, from, to);
    pool.lengths[to] = pool.lengths[from];
  }
  s->lengths[to] = s->lengths[from];
}

void reorder_sequences(mote_session* s, const uint32_t* from) {
  const uint32_t batch = s->options.batch;
  const auto reorder_lengths = [&](uint32_t* lengths) {
    for (uint32_t i = 0; i < batch; ++i) s->asked[i] = lengths[from[i]];
    memcpy(lengths, s->asked, batch * sizeof lengths[0]);
  };
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    if (pool.kind.of_run) continue;
    reorder_pages(&pool, batch, from);
    if (pool.kind.source != -1) reorder_lengths(pool.lengths);
  }
  reorder_lengths(s->lengths);
}

}  // namespace mote
