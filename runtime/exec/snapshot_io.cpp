// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/snapshot_io.h"

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/file/xxh64.h"

namespace mote {
namespace {

mote_status wrong(mote_error* error, const char* why) { return fail(error, MOTE_WRONG_SNAPSHOT, why); }

/// Writes the pool's table, then its pages.
void save_pool(Saver* saver, const mote_session& s, uint32_t p, SavedSequences saved) {
  const PagePool& pool = s.pools[p];
  const uint32_t* lengths = pool.lengths + saved.first;
  number_pages(pool, saved.first, lengths, saved.count);
  const uint8_t* table = saver->at();
  for_each_entry(pool, lengths, saved.count, [&](uint32_t sequence, uint32_t tile, uint64_t, uint32_t) {
    const uint32_t page = pool.pages_of(saved.first + sequence)[tile];
    const uint32_t number = page == kNoPage ? kNoPage : pool.numbers[page];
    saver->bytes(&number, sizeof number);
  });
  transfer_pages(*saver, s, p, saved, table);
}

/// Returns the pages that are free once the sequences have dropped theirs.
uint32_t pages_without(const PagePool& pool, SavedSequences dropped) {
  uint32_t count = pool.free_count;
  for (uint32_t i = dropped.first; i < dropped.first + dropped.count; ++i) {
    for (uint32_t tile = 0; tile < pool.tiles; ++tile) {
      const uint32_t page = pool.pages_of(i)[tile];
      count += page != kNoPage && pool.holders[page] == 1;
    }
  }
  return count;
}

bool is_history(const mote_session& s, const uint8_t* in, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += sizeof(int32_t)) {
    int32_t id;
    memcpy(&id, in + at, sizeof id);
    if (id < kNoId || id >= static_cast<int32_t>(s.sampler.vocab)) return false;
  }
  return true;
}

}  // namespace

SnapshotHeader snapshot_header(const mote_session& s, const char* magic, uint32_t sequences) {
  SnapshotHeader header{};
  memcpy(header.magic, magic, sizeof header.magic);
  header.version = kSnapshotVersion;
  header.isa = static_cast<uint32_t>(s.options.isa);
  header.model_hash = s.model->root->content_hash();
  header.kv_dtype = static_cast<uint32_t>(s.options.kv_dtype);
  header.sequences = sequences;
  return header;
}

uint64_t saved_sequence_bytes(const mote_session& s, SavedSequences saved) {
  const uint32_t* of_tokens = s.lengths + saved.first;
  uint64_t bytes = sizeof(SnapshotHeader) + saved.count * sizeof(uint32_t) * saved_lengths(s);
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (s.pools[p].kind.of_run) continue;
    const uint32_t* lengths = s.pools[p].lengths + saved.first;
    const uint32_t count = number_pages(s.pools[p], saved.first, lengths, saved.count);
    bytes +=
        saved_entries(s.pools[p], lengths, saved.count) * sizeof(uint32_t) + saved_pages_bytes(s, p, count);
  }
  return bytes + fixed_bytes(s, of_tokens, saved.count) + history_bytes(of_tokens, saved.count);
}

void save_sequences(Saver* saver, const mote_session& s, SavedSequences saved) {
  transfer_lengths(*saver, s, saved);
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (!s.pools[p].kind.of_run) save_pool(saver, s, p, saved);
  }
  transfer_fixed(*saver, s, saved);
  transfer_history(*saver, s, saved);
}

mote_status check_header(const SnapshotHeader& own, const uint8_t* in, uint64_t bytes, SnapshotHeader* header,
                         mote_error* error) {
  if (bytes < sizeof(SnapshotHeader) + sizeof(uint64_t)) return wrong(error, "the snapshot is truncated");
  memcpy(header, in, sizeof(SnapshotHeader));
  if (memcmp(header->magic, own.magic, sizeof own.magic) != 0) return wrong(error, "not a snapshot");
  if (header->version != own.version) return wrong(error, "the snapshot is of another version of mote");
  if (header->bytes > bytes) return wrong(error, "the snapshot is truncated");
  if (header->bytes < sizeof(SnapshotHeader) + sizeof(uint64_t))
    return wrong(error, "the snapshot is damaged");
  uint64_t hash;
  memcpy(&hash, in + header->bytes - sizeof hash, sizeof hash);
  if (xxh64(in, static_cast<size_t>(header->bytes - sizeof hash)) != hash)
    return wrong(error, "the snapshot is damaged");
  if (header->model_hash != own.model_hash) return wrong(error, "the snapshot is of another model");
  if (header->isa != own.isa) return wrong(error, "the snapshot was made with another kernel family");
  if (header->kv_dtype != own.kv_dtype) return wrong(error, "the snapshot has another KV cache type");
  if (header->sequences > own.sequences)
    return wrong(error, "the snapshot has more sequences than the session");
  return MOTE_OK;
}

/// The hash makes most of these checks fail only for a snapshot made by hand, but for one of more pages than
/// the session has.
mote_status check_sequences(const mote_session& s, const SnapshotHeader& header, const uint8_t* in,
                            SavedSequences to, bool keeps_others, uint64_t* at, mote_error* error) {
  const uint64_t end = header.bytes - sizeof(uint64_t),
                 lists = to.count * sizeof(uint32_t) * saved_lengths(s);
  uint64_t here = sizeof(SnapshotHeader);
  if (end - here < lists) return wrong(error, "the snapshot is damaged");
  const uint32_t* of_tokens = reinterpret_cast<const uint32_t*>(in + here);
  const uint32_t* of_sources = of_tokens + to.count;
  here += lists;
  for (uint32_t i = 0; i < to.count; ++i) {
    if (of_tokens[i] <= s.options.context) continue;
    return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has ", of_tokens[i],
                " tokens, the session's context is ", s.options.context);
  }
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    const PagePool& pool = s.pools[p];
    if (pool.kind.of_run) continue;
    const uint32_t* lengths = of_tokens;
    if (pool.kind.source != -1) {
      lengths = of_sources;
      of_sources += to.count;
    }
    for (uint32_t i = 0; i < to.count; ++i) {
      if (lengths[i] <= pool.positions) continue;
      return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has a source of ", lengths[i],
                  " positions, the session has room for ", pool.positions);
    }
    const uint64_t bytes = saved_entries(pool, lengths, to.count) * sizeof(uint32_t);
    if (end - here < bytes) return wrong(error, "the snapshot is damaged");
    const uint32_t most = keeps_others ? pages_without(pool, to) : pool.pages;
    uint32_t count;
    if (!check_numbers(pool, lengths, to.count, in + here, most, &count)) {
      return wrong(error, count == most ? "the snapshot has more tokens than the session's kv_positions"
                                        : "the snapshot is damaged");
    }
    here += bytes;
    const uint64_t pages = saved_pages_bytes(s, p, count);
    if (end - here < pages) return wrong(error, "the snapshot is damaged");
    here += pages;
  }
  const uint64_t states = fixed_bytes(s, of_tokens, to.count), ids = history_bytes(of_tokens, to.count);
  if (end - here < states || end - here - states < ids || !is_history(s, in + here + states, ids))
    return wrong(error, "the snapshot is damaged");
  *at = here + states + ids;
  return MOTE_OK;
}

void restore_sequences(Restorer* restorer, mote_session* s, SavedSequences to) {
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    for (uint32_t i = to.first; !s->pools[p].kind.of_run && i < to.first + to.count; ++i)
      truncate_pages(&s->pools[p], i, 0);
  }
  transfer_lengths(*restorer, *s, to);
  for (uint32_t p = 0; p < s->pool_count; ++p) {
    PagePool& pool = s->pools[p];
    if (pool.kind.of_run) continue;
    const uint32_t* lengths = pool.lengths + to.first;
    const uint8_t* table = restorer->at();
    uint32_t count;
    check_numbers(pool, lengths, to.count, table, pool.pages, &count);  // for used[]
    load_table(&pool, to.first, lengths, to.count, table, count);
    restorer->skip(saved_entries(pool, lengths, to.count) * sizeof(uint32_t));
    transfer_pages(*restorer, *s, p, to, table);
  }
  transfer_fixed(*restorer, *s, to);
  transfer_history(*restorer, *s, to);
}

}  // namespace mote
