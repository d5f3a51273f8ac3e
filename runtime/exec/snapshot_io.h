// SPDX-License-Identifier: Apache-2.0
//
// The parts that snapshots of a session and of one sequence have in common: a header, the lengths of the
// tokens and of sources, each pool's table and pages (kv_snapshot.h), the states of a fixed size of each
// sequence that has tokens, the tokens' ids. One set of functions walks the state to write and to read it.
#pragma once

#include <string.h>

#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_snapshot.h"
#include "runtime/exec/session.h"

namespace mote {

inline constexpr uint32_t kSnapshotVersion = 5;  // of both kinds

/// The beginning of a snapshot.
struct SnapshotHeader {
  char magic[8];
  uint32_t version;
  uint32_t isa;
  uint64_t model_hash;
  uint64_t bytes;  // of the whole snapshot
  uint32_t kv_dtype;
  uint32_t sequences;
  uint32_t logit_count;
  uint32_t selected_rows;
};

/// Sequences of a session that a snapshot holds.
struct SavedSequences {
  uint32_t first, count;
};

class Saver {
 public:
  explicit Saver(void* out) : out_(static_cast<uint8_t*>(out)) {}
  void bytes(const void* state, uint64_t count) {
    memcpy(out_, state, static_cast<size_t>(count));
    out_ += count;
  }
  template <class Part>
  void part(const void* state, const Part& part) {
    bytes(state, part.bytes());
    part.clear_unused(out_ - part.bytes());
  }
  const uint8_t* at() const { return out_; }

 private:
  uint8_t* out_;
};

class Restorer {
 public:
  explicit Restorer(const void* in) : in_(static_cast<const uint8_t*>(in)) {}
  void bytes(void* state, uint64_t count) {
    memcpy(state, in_, static_cast<size_t>(count));
    in_ += count;
  }
  template <class Part>
  void part(void* state, const Part& part) {
    bytes(state, part.bytes());
  }
  void skip(uint64_t count) { in_ += count; }
  const uint8_t* at() const { return in_; }

 private:
  const uint8_t* in_;
};

inline uint8_t* byte_at(void* base, uint64_t offset) { return static_cast<uint8_t*>(base) + offset; }

/// The first `used` positions of a page.
template <class Io>
void transfer_page(Io& io, const KvCacheView& cache, DType dtype, uint32_t page, uint32_t used) {
  for (uint32_t g = 0; g < cache.kv_heads; ++g) {
    const uint64_t positions = uint64_t{cache.head_of_page(page, g)} * cache.page_positions;
    io.part(byte_at(cache.keys, positions * kv_bytes(dtype, cache.key_dim)),
            SavedKeys{dtype, cache.key_dim, used});
    io.part(byte_at(cache.values, positions * kv_bytes(dtype, cache.value_dim)),
            SavedValues{dtype, cache.value_dim, used});
  }
}

/// Transfers the pages of a pool, in the order of their numbers, in all its caches. `table` is the saved one.
template <class Io>
void transfer_pages(Io& io, const mote_session& s, uint32_t p, SavedSequences saved, const uint8_t* table) {
  const PagePool& pool = s.pools[p];
  uint32_t next = 0;
  for_each_entry(pool, pool.lengths + saved.first, saved.count,
                 [&](uint32_t sequence, uint32_t tile, uint64_t entry, uint32_t) {
                   uint32_t number;
                   memcpy(&number, table + entry * sizeof number, sizeof number);
                   if (number != next) return;  // none, or one that was there before
                   for (uint32_t c = 0; c < s.model->root->states()->size(); ++c) {
                     if (s.pool_of[c] != p) continue;
                     transfer_page(io, s.caches[c], s.kv_dtype, pool.pages_of(saved.first + sequence)[tile],
                                   pool.used[number]);
                   }
                   ++next;
                 });
}

/// Transfers the tokens of each sequence, then the positions of its sources.
template <class Io>
void transfer_lengths(Io& io, const mote_session& s, SavedSequences saved) {
  const uint64_t bytes = saved.count * sizeof(uint32_t);
  io.bytes(s.lengths + saved.first, bytes);
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (s.pools[p].kind.source != -1) io.bytes(s.pools[p].lengths + saved.first, bytes);
  }
}

/// Transfers the states of a fixed size, of the sequences that have tokens.
template <class Io>
void transfer_fixed(Io& io, const mote_session& s, SavedSequences saved) {
  for (uint32_t i = saved.first; i < saved.first + saved.count; ++i) {
    if (s.lengths[i] == 0) continue;
    for_each_fixed_state(s, i, [&](float* data, uint64_t bytes) { io.bytes(data, bytes); });
  }
}

inline uint64_t fixed_bytes(const mote_session& s, const uint32_t* lengths, uint32_t sequences) {
  uint64_t with_tokens = 0;
  for (uint32_t i = 0; i < sequences; ++i) with_tokens += lengths[i] != 0;
  return with_tokens * saved_fixed_bytes(s);
}

/// Transfers the tokens' ids, which lie behind the states.
template <class Io>
void transfer_history(Io& io, const mote_session& s, SavedSequences saved) {
  for (uint32_t i = saved.first; i < saved.first + saved.count; ++i)
    io.bytes(history_of(s, i), s.lengths[i] * sizeof(int32_t));
}

inline uint64_t history_bytes(const uint32_t* lengths, uint32_t sequences) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sequences; ++i) bytes += lengths[i] * sizeof(int32_t);
  return bytes;
}

/// Returns how many lists of lengths there are: of the tokens, then of the sources in each pool that keeps
/// some.
inline uint64_t saved_lengths(const mote_session& s) {
  uint64_t lists = 1;
  for (uint32_t p = 0; p < s.pool_count; ++p) lists += s.pools[p].kind.source != -1;
  return lists;
}

/// Returns a snapshot's header without `bytes` and rows of logits. `magic` has 8 characters.
SnapshotHeader snapshot_header(const mote_session& session, const char* magic, uint32_t sequences);

/// Returns the bytes of header, lengths, pages, states and ids.
uint64_t saved_sequence_bytes(const mote_session& session, SavedSequences saved);

/// Writes lengths, pages, states and ids.
void save_sequences(Saver* saver, const mote_session& session, SavedSequences saved);

/// Proves that `in` holds a whole snapshot of a session like that of `own`, and copies its header.
mote_status check_header(const SnapshotHeader& own, const uint8_t* in, uint64_t bytes, SnapshotHeader* header,
                         mote_error* error);

/// Proves lengths, pages, states and ids for the sequences `to`; *at becomes the place behind them, at most
/// that of the hash. `keeps_others`: the session's other sequences keep their pages.
mote_status check_sequences(const mote_session& session, const SnapshotHeader& header, const uint8_t* in,
                            SavedSequences to, bool keeps_others, uint64_t* at, mote_error* error);

/// Reads lengths, pages, states and ids, once they are proved, for the sequences `to`, whose pages are
/// dropped.
void restore_sequences(Restorer* restorer, mote_session* session, SavedSequences to);

}  // namespace mote
