// SPDX-License-Identifier: Apache-2.0
//
// Which page of the arena holds which positions of which sequence (Kwon et al. 2023).
//
// A pool serves all caches of one window: a page number stands for one page in each of them. Sequences hold
// pages through a table; several may hold the same page, as after a fork. A page that is written has one
// holder: append() copies a shared one first. No kernel sees more than the table.
#pragma once

#include <stdint.h>

#include "runtime/file/model.h"

namespace mote {

/// With a window, so many tokens can always be dropped again: their pages outlive the window.
inline constexpr uint32_t kRollback = kAttentionTile;

struct PagePool {
  uint32_t window;          // tokens that a query sees, itself included; 0: all
  uint32_t page_positions;  // a multiple of 16, at most kAttentionTile
  uint32_t tiles;           // that a sequence has at most
  uint32_t pages;           // of the pool
  bool holds_all;           // it has the most pages of each sequence, and so never lacks one
  uint32_t* table;          // [batch][tiles]: a page or kNoPage
  uint32_t* holders;        // [pages]: sequences that hold the page
  uint32_t* free_pages;     // [pages], a stack of free_count
  uint32_t free_count;
  uint32_t* next_table;  // [batch][tiles], where there are several sequences
  // For snapshots, which count pages in the order of the table.
  uint32_t* used;     // [pages]: positions that hold a token
  uint32_t* numbers;  // [pages]
  CacheKind kind = {};
  uint32_t positions = 0;        // that a sequence has at most
  uint32_t* lengths = nullptr;   // [batch] positions of each sequence; null for a pool of a run
  int32_t* last_seen = nullptr;  // [chunk] of each row of a run that appends, the last position of its source

  uint32_t* pages_of(uint32_t sequence) const { return table + uint64_t{sequence} * tiles; }
};

/// Positions of a page where sequences have at most `context` tokens.
inline uint32_t page_positions(uint32_t context) {
  return context < kAttentionTile ? static_cast<uint32_t>(align_up(context, 16)) : kAttentionTile;
}

/// Pages for `positions` positions.
inline uint32_t pages_for(uint32_t positions, uint32_t page_positions) {
  return static_cast<uint32_t>((uint64_t{positions} + page_positions - 1) / page_positions);
}

/// The most pages that a sequence holds at once: those of the window, of kRollback and of a chunk.
uint32_t most_pages_of_sequence(uint32_t window, uint32_t chunk, uint32_t context);

/// All pages are free, no sequence holds any.
void clear_pages(PagePool* pool, uint32_t batch);

/// Pages that must be free for the sequence, of `length` tokens, to get `count` more: without a window exact
/// if no other sequence gets any, else at most so many.
uint32_t pages_missing(const PagePool& pool, uint32_t sequence, uint32_t length, uint32_t count,
                       uint32_t chunk);

/// A copy of page `from` becomes page `to` in all caches of the pool.
struct PageCopy {
  uint32_t from, to;
};

/// Gives the sequence pages for positions length..length + count - 1 that nobody else holds; count >= 1, and
/// enough pages are free. True if *copy must be done before anything is stored.
bool append_pages(PagePool* pool, uint32_t sequence, uint32_t length, uint32_t count, PageCopy* copy);

/// Drops the pages behind the first `length` positions.
void truncate_pages(PagePool* pool, uint32_t sequence, uint32_t length);

/// Drops the pages that a sequence of `length` tokens cannot need again.
void slide_pages(PagePool* pool, uint32_t sequence, uint32_t length);

/// `to` drops its pages and holds those of `from`.
void share_pages(PagePool* pool, uint32_t from, uint32_t to);

/// Sequence s holds the pages that from[s] held, for each s below `batch`.
void reorder_pages(PagePool* pool, uint32_t batch, const uint32_t* from);

/// The first position that the sequence holds; `length` if none.
uint32_t first_held(const PagePool& pool, uint32_t sequence, uint32_t length);

/// The first position that a token at position `length` sees.
inline uint32_t first_seen(const PagePool& pool, uint32_t length) {
  return pool.window == 0 || length < pool.window ? 0 : length - pool.window + 1;
}

/// Says whether the window of a sequence of `length` tokens has dropped the tile.
inline bool is_behind(const PagePool& pool, uint32_t tile, uint32_t length) {
  return (uint64_t{tile} + 1) * pool.page_positions + kRollback <= first_seen(pool, length);
}

/// Takes a free page for one holder.
uint32_t take_page(PagePool* pool);

}  // namespace mote
