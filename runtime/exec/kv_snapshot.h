// SPDX-License-Identifier: Apache-2.0
//
// Pages in a snapshot. For each pool it has a table [sequence][tiles that its tokens reach] and then the
// pages, each once. A page's number is the place where it first appears in the table, so what the numbers
// were in the session does not show; kNoPage stands for what a window has left behind.
#pragma once

#include <string.h>

#include "runtime/exec/kv_unused.h"
#include "runtime/exec/session.h"

namespace mote {

/// Entries of a pool's saved table.
inline uint64_t saved_entries(const PagePool& pool, const uint32_t* lengths, uint32_t sequences) {
  uint64_t entries = 0;
  for (uint32_t s = 0; s < sequences; ++s) entries += pages_for(lengths[s], pool.page_positions);
  return entries;
}

/// Calls f(sequence, tile, entry, positions): of each saved entry its number, and its tokens.
template <class F>
void for_each_entry(const PagePool& pool, const uint32_t* lengths, uint32_t sequences, F&& f) {
  uint64_t entry = 0;
  for (uint32_t s = 0; s < sequences; ++s) {
    for (uint32_t tile = 0; tile < pages_for(lengths[s], pool.page_positions); ++tile, ++entry) {
      const uint32_t left = lengths[s] - tile * pool.page_positions;
      f(s, tile, entry, left < pool.page_positions ? left : pool.page_positions);
    }
  }
}

/// Numbers the pages that the sequences from `first` on hold: numbers[page], and used[number], the most
/// positions that a holder has in it. Returns how many.
inline uint32_t number_pages(const PagePool& pool, uint32_t first, const uint32_t* lengths,
                             uint32_t sequences) {
  uint32_t count = 0;
  for (uint32_t page = 0; page < pool.pages; ++page) pool.numbers[page] = kNoPage;
  for_each_entry(pool, lengths, sequences, [&](uint32_t s, uint32_t tile, uint64_t, uint32_t positions) {
    const uint32_t page = pool.pages_of(first + s)[tile];
    if (page == kNoPage) return;
    if (pool.numbers[page] == kNoPage) {
      pool.used[count] = 0;
      pool.numbers[page] = count++;
    }
    uint32_t& used = pool.used[pool.numbers[page]];
    if (positions > used) used = positions;
  });
  return count;
}

/// Numbers the pages of a table from a snapshot, which nobody vouches for; false if no session with `most`
/// pages could have saved it: numbers in the order of their first use, each for one tile, no gaps behind a
/// sequence's first page, and no page that its window would have dropped.
inline bool check_numbers(const PagePool& pool, const uint32_t* lengths, uint32_t sequences,
                          const uint8_t* table, uint32_t most, uint32_t* count) {
  bool sound = true, gap_allowed = false;
  uint32_t seen = 0;
  for_each_entry(pool, lengths, sequences,
                 [&](uint32_t s, uint32_t tile, uint64_t entry, uint32_t positions) {
                   uint32_t number;
                   memcpy(&number, table + entry * sizeof number, sizeof number);
                   if (tile == 0) gap_allowed = pool.window != 0;
                   if (number == kNoPage) {
                     const uint64_t end = (uint64_t{tile} + 1) * pool.page_positions;
                     sound = sound && gap_allowed && end <= first_seen(pool, lengths[s]);
                     return;
                   }
                   gap_allowed = false;
                   sound = sound && !is_behind(pool, tile, lengths[s]);
                   if (number == seen && seen < most) {
                     pool.used[seen] = 0;
                     pool.numbers[seen++] = tile;
                   }
                   sound = sound && number < seen && pool.numbers[number] == tile;
                   if (sound && positions > pool.used[number]) pool.used[number] = positions;
                 });
  *count = seen;
  return sound;
}

/// Gives the sequences from `first` on, which hold no pages, those of a checked table.
inline void load_table(PagePool* pool, uint32_t first, const uint32_t* lengths, uint32_t sequences,
                       const uint8_t* table, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) pool->numbers[i] = take_page(pool);
  for (uint32_t i = 0; i < count; ++i) pool->holders[pool->numbers[i]] = 0;
  for_each_entry(*pool, lengths, sequences, [&](uint32_t s, uint32_t tile, uint64_t entry, uint32_t) {
    uint32_t number;
    memcpy(&number, table + entry * sizeof number, sizeof number);
    if (number == kNoPage) return;
    ++pool->holders[pool->numbers[number]];
    pool->pages_of(first + s)[tile] = pool->numbers[number];
  });
}

/// Bytes of the first `used` positions of a page of a cache.
inline uint64_t saved_page_bytes(const KvCacheView& cache, DType dtype, uint32_t used) {
  const SavedKeys keys{dtype, cache.key_dim, used};
  const SavedValues values{dtype, cache.value_dim, used};
  return cache.kv_heads * (keys.bytes() + values.bytes());
}

/// Bytes of the pool's first `count` pages in all its caches, by used[].
inline uint64_t saved_pages_bytes(const mote_session& session, uint32_t pool, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t c = 0; c < session.model->root->states()->size(); ++c) {
    if (session.pool_of[c] != pool) continue;
    for (uint32_t number = 0; number < count; ++number) {
      bytes += saved_page_bytes(session.caches[c], session.kv_dtype, session.pools[pool].used[number]);
    }
  }
  return bytes;
}

}  // namespace mote
