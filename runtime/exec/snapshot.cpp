// SPDX-License-Identifier: Apache-2.0
//
// Saving and restoring a session. The same functions walk the state to write and to read it. A snapshot is a
// header, the lengths of the tokens and of sources, each pool's table and pages (kv_snapshot.h), the states
// of a fixed size of each sequence that has tokens, the tokens' ids, the sampler and the logits, and the
// XXH64 of all; it is proved in full before the session changes. What holds no state, behind the last token
// or id, is written as zeros: equal sessions give equal snapshots.
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_snapshot.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/segments.h"
#include "runtime/exec/session.h"
#include "runtime/file/xxh64.h"

namespace mote {
namespace {

constexpr char kMagic[8] = {'M', 'O', 'T', 'E', 'S', 'N', 'A', 'P'};
constexpr uint32_t kSnapshotVersion = 5;

struct Header {
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

struct SavedSampler {
  mote_sampling sampling;
  uint64_t random_state;
  uint64_t recent_count;
};

/// The ids that the sampler saw last.
struct SavedIds {
  uint64_t seen;

  uint64_t bytes() const { return MOTE_REPETITION_WINDOW * sizeof(int32_t); }
  void clear_unused(uint8_t* copy) const {
    if (seen >= MOTE_REPETITION_WINDOW) return;
    const size_t used = static_cast<size_t>(seen) * sizeof(int32_t);
    memset(copy + used, 0, static_cast<size_t>(bytes()) - used);
  }
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

uint8_t* byte_at(void* base, uint64_t offset) { return static_cast<uint8_t*>(base) + offset; }

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

/// The pages of a pool, in the order of their numbers, in all its caches. `table` is the saved one.
template <class Io>
void transfer_pages(Io& io, const mote_session& s, uint32_t p, const uint32_t* lengths, uint32_t sequences,
                    const uint8_t* table) {
  const PagePool& pool = s.pools[p];
  uint32_t next = 0;
  for_each_entry(pool, lengths, sequences, [&](uint32_t sequence, uint32_t tile, uint64_t entry, uint32_t) {
    uint32_t number;
    memcpy(&number, table + entry * sizeof number, sizeof number);
    if (number != next) return;  // none, or one that was there before
    for (uint32_t c = 0; c < s.model->root->states()->size(); ++c) {
      if (s.pool_of[c] != p) continue;
      transfer_page(io, s.caches[c], s.kv_dtype, pool.pages_of(sequence)[tile], pool.used[number]);
    }
    ++next;
  });
}

/// Tokens of each sequence, then positions of its sources.
template <class Io>
void transfer_lengths(Io& io, const mote_session& s, uint32_t sequences) {
  io.bytes(s.lengths, sequences * sizeof(uint32_t));
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (s.pools[p].kind.source != -1) io.bytes(s.pools[p].lengths, sequences * sizeof(uint32_t));
  }
}

/// The states of a fixed size, of the sequences that have tokens.
template <class Io>
void transfer_fixed(Io& io, const mote_session& s, uint32_t sequences) {
  for (uint32_t i = 0; i < sequences; ++i) {
    if (s.lengths[i] == 0) continue;
    for_each_fixed_state(s, i, [&](float* data, uint64_t bytes) { io.bytes(data, bytes); });
  }
}

uint64_t fixed_bytes(const mote_session& s, const uint32_t* lengths, uint32_t sequences) {
  uint64_t with_tokens = 0;
  for (uint32_t i = 0; i < sequences; ++i) with_tokens += lengths[i] != 0;
  return with_tokens * saved_fixed_bytes(s);
}

/// What is behind the states.
template <class Io>
void transfer_history(Io& io, const mote_session& s, uint32_t sequences) {
  for (uint32_t i = 0; i < sequences; ++i) io.bytes(history_of(s, i), s.lengths[i] * sizeof(int32_t));
}

uint64_t history_bytes(const uint32_t* lengths, uint32_t sequences) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sequences; ++i) bytes += lengths[i] * sizeof(int32_t);
  return bytes;
}

bool is_history(const mote_session& s, const uint8_t* in, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += sizeof(int32_t)) {
    int32_t id;
    memcpy(&id, in + at, sizeof id);
    if (id < kNoId || id >= static_cast<int32_t>(s.sampler.vocab)) return false;
  }
  return true;
}

template <class Io>
void transfer_rest(Io& io, const mote_session& s, uint32_t logit_count, uint32_t selected_rows,
                   SavedSampler* sampler) {
  io.bytes(sampler, sizeof *sampler);
  io.part(s.sampler.recent, SavedIds{sampler->recent_count});
  io.bytes(s.logit_index, logit_count * sizeof(int32_t));
  for (uint32_t row = 0; row < selected_rows; ++row) {
    io.bytes(const_cast<float*>(current(s).outputs[row]), s.sampler.vocab * sizeof(float));
  }
}

uint64_t rest_bytes(const mote_session& s, uint32_t logit_count, uint32_t selected_rows) {
  return sizeof(SavedSampler) + SavedIds{0}.bytes() + logit_count * sizeof(int32_t) +
         selected_rows * uint64_t{s.sampler.vocab} * sizeof(float);
}

Header header_of(const mote_session& s) {
  Header header{};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kSnapshotVersion;
  header.isa = static_cast<uint32_t>(s.options.isa);
  header.model_hash = s.model->root->content_hash();
  header.kv_dtype = static_cast<uint32_t>(s.options.kv_dtype);
  header.sequences = s.options.batch;
  header.logit_count = is_whole(*current(s).file) ? 0 : s.logit_count;  // what encodes has no logits
  header.selected_rows = header.logit_count == 0 ? 0 : s.run.selected_rows;
  return header;
}

/// Lists of lengths: of the tokens, then of the sources in each pool that keeps some.
uint64_t saved_lengths(const mote_session& s) {
  uint64_t lists = 1;
  for (uint32_t p = 0; p < s.pool_count; ++p) lists += s.pools[p].kind.source != -1;
  return lists;
}

uint64_t snapshot_bytes(const mote_session& s, const Header& header) {
  uint64_t bytes = sizeof(Header) + header.sequences * sizeof(uint32_t) * saved_lengths(s) + sizeof(uint64_t);
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (s.pools[p].kind.of_run) continue;
    const uint32_t* lengths = s.pools[p].lengths;
    const uint32_t count = number_pages(s.pools[p], lengths, header.sequences);
    bytes += saved_entries(s.pools[p], lengths, header.sequences) * sizeof(uint32_t) +
             saved_pages_bytes(s, p, count);
  }
  return bytes + fixed_bytes(s, s.lengths, header.sequences) + history_bytes(s.lengths, header.sequences) +
         rest_bytes(s, header.logit_count, header.selected_rows);
}

/// Whether the snapshot is whole and belongs to a session like this one.
mote_status check(const mote_session& s, const uint8_t* in, uint64_t bytes, Header* header,
                  mote_error* error) {
  const auto wrong = [&](const char* why) { return fail(error, MOTE_WRONG_SNAPSHOT, why); };
  if (bytes < sizeof(Header) + sizeof(uint64_t)) return wrong("the snapshot is truncated");
  memcpy(header, in, sizeof(Header));
  if (memcmp(header->magic, kMagic, sizeof kMagic) != 0) return wrong("not a snapshot");
  if (header->version != kSnapshotVersion) return wrong("the snapshot is of another version of mote");
  if (header->bytes > bytes) return wrong("the snapshot is truncated");
  if (header->bytes < sizeof(Header) + sizeof(uint64_t)) return wrong("the snapshot is damaged");
  uint64_t hash;
  memcpy(&hash, in + header->bytes - sizeof hash, sizeof hash);
  if (xxh64(in, static_cast<size_t>(header->bytes - sizeof hash)) != hash)
    return wrong("the snapshot is damaged");

  const Header own = header_of(s);
  if (header->model_hash != own.model_hash) return wrong("the snapshot is of another model");
  if (header->isa != own.isa) return wrong("the snapshot was made with another kernel family");
  if (header->kv_dtype != own.kv_dtype) return wrong("the snapshot has another KV cache type");
  if (header->sequences > own.sequences) return wrong("the snapshot has more sequences than the session");
  if (header->logit_count > s.options.logit_rows || header->selected_rows > header->logit_count) {
    return wrong("the snapshot has more rows of logits than the session");
  }
  return MOTE_OK;
}

/// The checks that need more than the header; the hash makes them fail only for a snapshot made by hand, but
/// for one of more pages than the session has.
mote_status check_state(const mote_session& s, const Header& header, const uint8_t* in, mote_error* error) {
  const auto wrong = [&](const char* why) { return fail(error, MOTE_WRONG_SNAPSHOT, why); };
  const uint64_t end = header.bytes - sizeof(uint64_t);
  uint64_t at = sizeof(Header);
  if (end - at < header.sequences * sizeof(uint32_t) * saved_lengths(s))
    return wrong("the snapshot is damaged");
  const uint32_t* of_tokens = reinterpret_cast<const uint32_t*>(in + at);
  const uint32_t* of_sources = of_tokens + header.sequences;
  at += header.sequences * sizeof(uint32_t) * saved_lengths(s);
  for (uint32_t i = 0; i < header.sequences; ++i) {
    if (of_tokens[i] <= s.options.context) continue;
    return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has ", of_tokens[i],
                " tokens, the session's context is ", s.options.context);
  }
  for (uint32_t p = 0; p < s.pool_count; ++p) {
    if (s.pools[p].kind.of_run) continue;
    const uint32_t* lengths = of_tokens;
    if (s.pools[p].kind.source != -1) {
      lengths = of_sources;
      of_sources += header.sequences;
    }
    for (uint32_t i = 0; i < header.sequences; ++i) {
      if (lengths[i] <= s.pools[p].positions) continue;
      return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has a source of ", lengths[i],
                  " positions, the session has room for ", s.pools[p].positions);
    }
    const uint64_t bytes = saved_entries(s.pools[p], lengths, header.sequences) * sizeof(uint32_t);
    if (end - at < bytes) return wrong("the snapshot is damaged");
    uint32_t count;
    if (!check_numbers(s.pools[p], lengths, header.sequences, in + at, &count)) {
      return wrong(count == s.pools[p].pages ? "the snapshot has more tokens than the session's kv_positions"
                                             : "the snapshot is damaged");
    }
    at += bytes;
    const uint64_t pages = saved_pages_bytes(s, p, count);
    if (end - at < pages) return wrong("the snapshot is damaged");
    at += pages;
  }
  const uint64_t fixed = fixed_bytes(s, of_tokens, header.sequences);
  if (end - at < fixed) return wrong("the snapshot is damaged");
  at += fixed;
  const uint64_t ids = history_bytes(of_tokens, header.sequences);
  if (end - at != ids + rest_bytes(s, header.logit_count, header.selected_rows) ||
      !is_history(s, in + at, ids)) {
    return wrong("the snapshot is damaged");
  }
  at += ids;
  SavedSampler sampler;
  memcpy(&sampler, in + at, sizeof sampler);
  bool sound = sampler.recent_count <= UINT32_MAX && sampling_problem(sampler.sampling) == nullptr;
  at += sizeof sampler + SavedIds{0}.bytes();
  for (uint32_t i = 0; i < header.logit_count; ++i) {
    int32_t row;
    memcpy(&row, in + at + i * sizeof row, sizeof row);
    sound = sound && row >= -1 && row < static_cast<int32_t>(header.selected_rows);
  }
  return sound ? MOTE_OK : wrong("the snapshot is damaged");
}

/// The pool's table, then its pages.
void save_pool(Saver* saver, const mote_session& s, uint32_t p, uint32_t sequences) {
  const PagePool& pool = s.pools[p];
  number_pages(pool, pool.lengths, sequences);
  const uint8_t* table = saver->at();
  for_each_entry(pool, pool.lengths, sequences, [&](uint32_t sequence, uint32_t tile, uint64_t, uint32_t) {
    const uint32_t page = pool.pages_of(sequence)[tile];
    const uint32_t number = page == kNoPage ? kNoPage : pool.numbers[page];
    saver->bytes(&number, sizeof number);
  });
  transfer_pages(*saver, s, p, pool.lengths, sequences, table);
}

void restore_pool(Restorer* restorer, mote_session* s, uint32_t p, uint32_t sequences) {
  PagePool& pool = s->pools[p];
  const uint8_t* table = restorer->at();
  uint32_t count;
  check_numbers(pool, pool.lengths, sequences, table, &count);  // for used[]
  load_table(&pool, s->options.batch, pool.lengths, sequences, table, count);
  restorer->skip(saved_entries(pool, pool.lengths, sequences) * sizeof(uint32_t));
  transfer_pages(*restorer, *s, p, pool.lengths, sequences, table);
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

size_t mote_session_state_bytes(const mote_session* session) {
  if (session->model->encoder) return 0;
  return static_cast<size_t>(mote::snapshot_bytes(*session, mote::header_of(*session)));
}

mote_status mote_session_save(const mote_session* session, void* out, size_t bytes, size_t* written,
                              mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  const uint32_t further = mote::find_further_segment(*session);
  if (further != session->options.batch) {
    return fail(error, MOTE_WRONG_STATE, "sequence ", further,
                " is in a further segment, which snapshots do not keep");
  }
  mote::Header header = mote::header_of(*session);
  header.bytes = mote::snapshot_bytes(*session, header);
  if (out == nullptr || bytes < header.bytes) {
    return fail(error, MOTE_TOO_SMALL, "the snapshot takes ", header.bytes, " bytes, given ",
                uint64_t{bytes});
  }
  mote::SavedSampler sampler{session->sampler.sampling, session->sampler.random_state,
                             session->sampler.recent_count};
  memset(sampler.sampling.reserved, 0, sizeof sampler.sampling.reserved);
  mote::Saver saver(out);
  saver.bytes(&header, sizeof header);
  mote::transfer_lengths(saver, *session, header.sequences);
  for (uint32_t p = 0; p < session->pool_count; ++p) {
    if (!session->pools[p].kind.of_run) mote::save_pool(&saver, *session, p, header.sequences);
  }
  mote::transfer_fixed(saver, *session, header.sequences);
  mote::transfer_history(saver, *session, header.sequences);
  mote::transfer_rest(saver, *session, header.logit_count, header.selected_rows, &sampler);
  const uint64_t hash = mote::xxh64(out, static_cast<size_t>(header.bytes - sizeof hash));
  saver.bytes(&hash, sizeof hash);
  if (written != nullptr) *written = static_cast<size_t>(header.bytes);
  return MOTE_OK;
}

mote_status mote_session_restore(mote_session* session, const void* in, size_t bytes, mote_error* error) {
  if (in == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(in) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, "a snapshot must be 8-byte aligned");
  const uint8_t* start = static_cast<const uint8_t*>(in);
  mote::Header header;
  mote_status status = mote::check_decoder(session, error);
  if (status == MOTE_OK) status = mote::check(*session, start, bytes, &header, error);
  if (status != MOTE_OK) return status;
  status = mote::check_state(*session, header, start, error);
  if (status != MOTE_OK) return status;

  mote::end_run(session);
  session->program = 0;  // all programs that append have outputs of one width
  memset(session->lengths, 0, session->options.batch * sizeof(uint32_t));
  mote::clear_pages(session);
  mote::SavedSampler sampler;
  mote::Restorer restorer(start + sizeof header);
  mote::clear_segments(session);
  mote::transfer_lengths(restorer, *session, header.sequences);
  for (uint32_t p = 0; p < session->pool_count; ++p) {
    if (!session->pools[p].kind.of_run) mote::restore_pool(&restorer, session, p, header.sequences);
  }
  mote::transfer_fixed(restorer, *session, header.sequences);
  mote::transfer_history(restorer, *session, header.sequences);
  mote::transfer_rest(restorer, *session, header.logit_count, header.selected_rows, &sampler);
  session->sampler.sampling = sampler.sampling;
  session->sampler.random_state = sampler.random_state;
  session->sampler.recent_count = static_cast<uint32_t>(sampler.recent_count);
  session->logit_count = header.logit_count;
  session->run.selected_rows = header.selected_rows;
  return MOTE_OK;
}

}  // extern "C"
