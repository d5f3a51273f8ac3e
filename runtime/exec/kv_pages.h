// SPDX-License-Identifier: Apache-2.0
//
// The pages of a session's KV caches. Each sequence has its own. Without a window, or where its pages would
// not be fewer, a tile has a page for itself. Else the tiles take turns: a window and a chunk are spread over
// so many tiles that a page is written anew only when no row sees what it had.
#pragma once

#include "kernels/ops.h"
#include "mote/mote.h"
#include "runtime/file/file.h"

namespace mote {

struct KvPages {
  uint32_t tiles;           // of a sequence
  uint32_t held;            // pages of a sequence
  uint32_t page_positions;  // as KvCacheView has them
  bool slides;              // pages may be written anew

  uint32_t page_of(uint32_t sequence, uint32_t tile) const { return sequence * held + tile % held; }
};

inline KvPages kv_pages(const mote_session_options& options, const file::KvCache& cache) {
  const uint32_t most =
      cache.bidirectional() && options.chunk < options.context ? options.chunk : options.context;
  KvPages pages{};
  pages.tiles = static_cast<uint32_t>(align_up(most, kAttentionTile) / kAttentionTile);
  pages.held = pages.tiles;
  pages.page_positions = pages.tiles > 1 ? kAttentionTile : static_cast<uint32_t>(align_up(most, 16));
  if (cache.window() == 0) return pages;
  const uint64_t at_once = uint64_t{cache.window()} + options.chunk - 1;  // positions, wherever they begin
  const uint64_t needed = align_up(at_once, kAttentionTile) / kAttentionTile + 1;
  pages.slides = needed <= pages.tiles;
  if (pages.slides) pages.held = static_cast<uint32_t>(needed);
  return pages;
}

/// The first position that a sequence of `length` tokens is sure to have. A chunk that was broken off may
/// have been written behind them.
inline uint32_t first_held(const mote_session_options& options, const file::KvCache& cache, uint32_t length) {
  const KvPages pages = kv_pages(options, cache);
  const bool written_anew = uint64_t{length} + options.chunk > uint64_t{pages.held} * kAttentionTile;
  return pages.slides && written_anew ? length + 1 - cache.window() : 0;
}

}  // namespace mote
