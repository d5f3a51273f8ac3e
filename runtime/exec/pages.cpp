// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/pages.h"

#include <assert.h>

namespace mote {
namespace {

void drop(PagePool* pool, uint32_t* entry) {
  if (*entry == kNoPage) return;
  if (--pool->holders[*entry] == 0) pool->free_pages[pool->free_count++] = *entry;
  *entry = kNoPage;
}

/// Says whether the page that position `length` falls into holds earlier positions for other sequences too.
bool shares_last_page(const PagePool& pool, uint32_t sequence, uint32_t length) {
  if (length % pool.page_positions == 0) return false;
  return pool.holders[pool.pages_of(sequence)[length / pool.page_positions]] > 1;
}

}  // namespace

uint32_t most_pages_of_sequence(uint32_t window, uint32_t chunk, uint32_t context) {
  const uint32_t size = page_positions(context), all = pages_for(context, size);
  if (window == 0) return all;
  // The first position may be the last of its page.
  const uint64_t positions = uint64_t{window} + kRollback + chunk + size;
  const uint64_t pages = (positions + size - 1) / size;
  return pages < all ? static_cast<uint32_t>(pages) : all;
}

void clear_pages(PagePool* pool, uint32_t batch) {
  for (uint64_t i = 0; i < uint64_t{batch} * pool->tiles; ++i) pool->table[i] = kNoPage;
  for (uint32_t page = 0; page < pool->pages; ++page) {
    pool->holders[page] = 0;
    pool->free_pages[page] = pool->pages - 1 - page;  // the lowest is taken first
  }
  pool->free_count = pool->pages;
}

uint32_t pages_missing(const PagePool& pool, uint32_t sequence, uint32_t length, uint32_t count,
                       uint32_t chunk) {
  if (count == 0) return 0;
  const uint32_t* pages = pool.pages_of(sequence);
  const uint32_t end = pages_for(length + count, pool.page_positions);
  uint32_t missing = shares_last_page(pool, sequence, length) ? 1 : 0;
  if (pool.window == 0) {
    for (uint32_t tile = length / pool.page_positions; tile < end; ++tile) missing += pages[tile] == kNoPage;
    return missing;
  }
  // Pages of its own come back while the window slides; shared ones may not.
  const uint32_t begin = first_held(pool, sequence, length) / pool.page_positions;
  uint32_t own = 0;
  for (uint32_t tile = begin; tile < end; ++tile) {
    own += pages[tile] != kNoPage && pool.holders[pages[tile]] == 1;
  }
  const uint32_t most = most_pages_of_sequence(pool.window, chunk, pool.tiles * pool.page_positions);
  const uint32_t needed = end - begin < most ? end - begin : most;
  return needed > own ? needed - own : 0;
}

uint32_t take_page(PagePool* pool) {
  assert(pool->free_count != 0);
  const uint32_t page = pool->free_pages[--pool->free_count];
  pool->holders[page] = 1;
  return page;
}

bool append_pages(PagePool* pool, uint32_t sequence, uint32_t length, uint32_t count, PageCopy* copy) {
  uint32_t* pages = pool->pages_of(sequence);
  const bool copies = shares_last_page(*pool, sequence, length);
  if (copies) {
    uint32_t* entry = &pages[length / pool->page_positions];
    *copy = {*entry, take_page(pool)};
    --pool->holders[copy->from];
    *entry = copy->to;
  }
  for (uint32_t tile = length / pool->page_positions; tile < pages_for(length + count, pool->page_positions);
       ++tile) {
    if (pages[tile] == kNoPage) pages[tile] = take_page(pool);
  }
  return copies;
}

void truncate_pages(PagePool* pool, uint32_t sequence, uint32_t length) {
  uint32_t* pages = pool->pages_of(sequence);
  for (uint32_t tile = pages_for(length, pool->page_positions); tile < pool->tiles; ++tile) {
    drop(pool, &pages[tile]);
  }
}

void slide_pages(PagePool* pool, uint32_t sequence, uint32_t length) {
  uint32_t* pages = pool->pages_of(sequence);
  uint32_t tile = first_seen(*pool, length) / pool->page_positions;
  while (tile > 0 && !is_behind(*pool, tile - 1, length)) --tile;
  for (; tile > 0 && pages[tile - 1] != kNoPage; --tile) drop(pool, &pages[tile - 1]);
}

void share_pages(PagePool* pool, uint32_t from, uint32_t to) {
  if (from == to) return;
  uint32_t* own = pool->pages_of(to);
  const uint32_t* pages = pool->pages_of(from);
  for (uint32_t tile = 0; tile < pool->tiles; ++tile) {
    drop(pool, &own[tile]);
    own[tile] = pages[tile];
    if (own[tile] != kNoPage) ++pool->holders[own[tile]];
  }
}

void reorder_pages(PagePool* pool, uint32_t batch, const uint32_t* from) {
  if (batch < 2) return;
  const uint64_t entries = uint64_t{batch} * pool->tiles;
  for (uint32_t sequence = 0; sequence < batch; ++sequence) {
    uint32_t* next = pool->next_table + uint64_t{sequence} * pool->tiles;
    for (uint32_t tile = 0; tile < pool->tiles; ++tile) {
      next[tile] = pool->pages_of(from[sequence])[tile];
      if (next[tile] != kNoPage) ++pool->holders[next[tile]];
    }
  }
  for (uint64_t i = 0; i < entries; ++i) {
    drop(pool, &pool->table[i]);
    pool->table[i] = pool->next_table[i];
  }
}

uint32_t first_held(const PagePool& pool, uint32_t sequence, uint32_t length) {
  const uint32_t* pages = pool.pages_of(sequence);
  uint32_t tile = pages_for(length, pool.page_positions);
  if (tile == 0) return 0;
  while (tile > 0 && pages[tile - 1] != kNoPage) --tile;
  return tile * pool.page_positions < length ? tile * pool.page_positions : length;
}

}  // namespace mote
