// SPDX-License-Identifier: Apache-2.0
//
// Saving and restoring a session. One function, transfer(), walks the state; what it is given decides whether
// the bytes are counted, written or read, so the three cannot disagree. A snapshot is a header, the state and
// the XXH64 of both; it is proved in full before the session changes. What holds no state, behind the last
// token or id, is written as zeros: equal sessions give equal snapshots.
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/kv_pages.h"
#include "runtime/exec/kv_unused.h"
#include "runtime/exec/session.h"
#include "runtime/file/xxh64.h"

namespace mote {
namespace {

constexpr char kMagic[8] = {'M', 'O', 'T', 'E', 'S', 'N', 'A', 'P'};
constexpr uint32_t kSnapshotVersion = 3;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t isa;
  uint64_t model_hash;
  uint64_t bytes;      // of the whole snapshot
  uint64_t ring_hash;  // of the caches that slide
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

class Counter {
 public:
  void bytes(const void*, uint64_t count) { used_ += count; }
  template <class Part>
  void part(const void*, const Part& part) {
    used_ += part.bytes();
  }
  uint64_t used() const { return used_; }

 private:
  uint64_t used_ = 0;
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

/// Of each sequence the pages that it holds, as far as they have tokens.
template <class Io>
void transfer_caches(Io& io, const mote_session& s, const uint32_t* lengths, uint32_t sequences) {
  for (uint32_t c = 0; c < s.model->root->kv_caches()->size(); ++c) {
    for (uint32_t sequence = 0; sequence < sequences; ++sequence) {
      const uint32_t length = lengths[sequence];
      uint32_t tile = first_held(s.options, *s.model->root->kv_caches()->Get(c), length) / kAttentionTile;
      for (; tile * kAttentionTile < length; ++tile) {
        const uint32_t left = length - tile * kAttentionTile;
        transfer_page(io, s.caches[c], s.kv_dtype, s.caches[c].page_of(sequence, tile),
                      left < kAttentionTile ? left : kAttentionTile);
      }
    }
  }
}

/// Everything after the header and the lengths, which must be those of the saved session. Counting takes no
/// sampler.
template <class Io>
void transfer(Io& io, const mote_session& s, const uint32_t* lengths, uint32_t sequences,
              uint32_t logit_count, uint32_t selected_rows, SavedSampler* sampler) {
  transfer_caches(io, s, lengths, sequences);
  io.bytes(sampler, sizeof *sampler);
  io.part(s.sampler.recent, SavedIds{sampler == nullptr ? 0 : sampler->recent_count});
  io.bytes(s.logit_index, logit_count * sizeof(int32_t));
  for (uint32_t row = 0; row < selected_rows; ++row) {
    io.bytes(const_cast<float*>(s.outputs[row]), s.sampler.vocab * sizeof(float));
  }
}

/// Of what decides which tokens a cache that slides still has.
uint64_t ring_hash(const mote_session& s) {
  Xxh64 hash;
  for (uint32_t i = 0; i < s.model->root->kv_caches()->size(); ++i) {
    const KvPages pages = kv_pages(s.options, *s.model->root->kv_caches()->Get(i));
    if (!pages.slides) continue;
    hash.update(&i, sizeof i);
    hash.update(&pages.held, sizeof pages.held);
    hash.update(&s.options.chunk, sizeof s.options.chunk);
  }
  return hash.digest();
}

Header header_of(const mote_session& s) {
  Header header{};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kSnapshotVersion;
  header.isa = static_cast<uint32_t>(s.options.isa);
  header.model_hash = s.model->root->content_hash();
  header.ring_hash = ring_hash(s);
  header.kv_dtype = static_cast<uint32_t>(s.options.kv_dtype);
  header.sequences = s.options.batch;
  header.logit_count = s.logit_count;
  header.selected_rows = s.logit_count == 0 ? 0 : s.run.selected_rows;
  return header;
}

uint64_t snapshot_bytes(const mote_session& s, const Header& header, const uint32_t* lengths) {
  Counter counter;
  transfer(counter, s, lengths, header.sequences, header.logit_count, header.selected_rows,
           static_cast<SavedSampler*>(nullptr));
  return sizeof(Header) + header.sequences * sizeof(uint32_t) + counter.used() + sizeof(uint64_t);
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
  if (header->ring_hash != own.ring_hash) {
    return wrong("the snapshot's sliding windows have another size; use the same context and chunk");
  }
  if (header->sequences > own.sequences) return wrong("the snapshot has more sequences than the session");
  if (header->logit_count > s.options.logit_rows || header->selected_rows > header->logit_count) {
    return wrong("the snapshot has more rows of logits than the session");
  }
  return MOTE_OK;
}

/// The checks that need more than the header; the hash makes them fail only for a snapshot made by hand.
bool consistent(const mote_session& s, const Header& header, const uint8_t* in) {
  uint64_t at = sizeof(Header);
  const uint64_t bytes = header.bytes - sizeof(uint64_t);
  if (bytes - at < header.sequences * sizeof(uint32_t)) return false;
  const uint32_t* lengths = reinterpret_cast<const uint32_t*>(in + at);
  if (snapshot_bytes(s, header, lengths) != header.bytes) return false;
  at = bytes - header.selected_rows * uint64_t{s.sampler.vocab} * sizeof(float) -
       header.logit_count * sizeof(int32_t);
  for (uint32_t i = 0; i < header.logit_count; ++i) {
    int32_t row;
    memcpy(&row, in + at + i * sizeof row, sizeof row);
    if (row < -1 || row >= static_cast<int32_t>(header.selected_rows)) return false;
  }
  at -= MOTE_REPETITION_WINDOW * sizeof(int32_t) + sizeof(SavedSampler);
  SavedSampler sampler;
  memcpy(&sampler, in + at, sizeof sampler);
  return sampler.recent_count <= UINT32_MAX && sampling_problem(sampler.sampling) == nullptr;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

size_t mote_session_state_bytes(const mote_session* session) {
  if (session->model->encoder) return 0;
  return static_cast<size_t>(mote::snapshot_bytes(*session, mote::header_of(*session), session->lengths));
}

mote_status mote_session_save(const mote_session* session, void* out, size_t bytes, size_t* written,
                              mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  mote::Header header = mote::header_of(*session);
  header.bytes = mote::snapshot_bytes(*session, header, session->lengths);
  if (out == nullptr || bytes < header.bytes) {
    return fail(error, MOTE_TOO_SMALL, "the snapshot takes ", header.bytes, " bytes, given ",
                uint64_t{bytes});
  }
  mote::SavedSampler sampler{session->sampler.sampling, session->sampler.random_state,
                             session->sampler.recent_count};
  memset(sampler.sampling.reserved, 0, sizeof sampler.sampling.reserved);
  mote::Saver saver(out);
  saver.bytes(&header, sizeof header);
  saver.bytes(session->lengths, header.sequences * sizeof(uint32_t));
  mote::transfer(saver, *session, session->lengths, header.sequences, header.logit_count,
                 header.selected_rows, &sampler);
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
  const uint32_t* lengths = reinterpret_cast<const uint32_t*>(start + sizeof header);
  for (uint32_t i = 0; i < header.sequences; ++i) {
    if ((i + 1) * sizeof(uint32_t) <= header.bytes - sizeof header && lengths[i] > session->options.context) {
      return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has ", lengths[i],
                  " tokens, the session's context is ", session->options.context);
    }
  }
  if (!mote::consistent(*session, header, start))
    return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot is damaged");

  mote::end_run(session);
  memset(session->lengths, 0, session->options.batch * sizeof(uint32_t));
  mote::SavedSampler sampler;
  mote::Restorer restorer(start + sizeof header);
  restorer.bytes(session->lengths, header.sequences * sizeof(uint32_t));
  mote::transfer(restorer, *session, session->lengths, header.sequences, header.logit_count,
                 header.selected_rows, &sampler);
  session->sampler.sampling = sampler.sampling;
  session->sampler.random_state = sampler.random_state;
  session->sampler.recent_count = static_cast<uint32_t>(sampler.recent_count);
  session->logit_count = header.logit_count;
  session->run.selected_rows = header.selected_rows;
  return MOTE_OK;
}

}  // extern "C"
