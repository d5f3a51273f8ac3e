// SPDX-License-Identifier: Apache-2.0
//
// Saving and restoring a session: its sequences (snapshot_io.h), the sampler and the logits, and the XXH64 of
// all. A snapshot is proved in full before the session changes. Places that hold no state, behind the last
// token or id, are written as zeros: equal sessions give equal snapshots.
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/segments.h"
#include "runtime/exec/session.h"
#include "runtime/exec/snapshot_io.h"
#include "runtime/file/xxh64.h"

namespace mote {
namespace {

constexpr char kMagic[] = "MOTESNAP";

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

SnapshotHeader header_of(const mote_session& s) {
  SnapshotHeader header = snapshot_header(s, kMagic, s.options.batch);
  header.logit_count = is_whole(*current(s).file) ? 0 : s.logit_count;  // what encodes has no logits
  header.selected_rows = header.logit_count == 0 ? 0 : s.run.selected_rows;
  return header;
}

uint64_t snapshot_bytes(const mote_session& s, const SnapshotHeader& header) {
  return saved_sequence_bytes(s, {0, header.sequences}) +
         rest_bytes(s, header.logit_count, header.selected_rows) + sizeof(uint64_t);
}

/// Proves all of a snapshot.
mote_status check(const mote_session& s, const uint8_t* in, uint64_t bytes, SnapshotHeader* header,
                  mote_error* error) {
  mote_status status = check_header(header_of(s), in, bytes, header, error);
  if (status != MOTE_OK) return status;
  if (header->logit_count > s.options.logit_rows || header->selected_rows > header->logit_count)
    return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot has more rows of logits than the session");
  uint64_t at = 0;
  status = check_sequences(s, *header, in, {0, header->sequences}, false, &at, error);
  if (status != MOTE_OK) return status;
  const uint64_t end = header->bytes - sizeof(uint64_t);
  bool sound = end - at == rest_bytes(s, header->logit_count, header->selected_rows);
  if (sound) {
    SavedSampler sampler;
    memcpy(&sampler, in + at, sizeof sampler);
    sound = sampler.recent_count <= UINT32_MAX && sampling_problem(sampler.sampling) == nullptr;
    at += sizeof sampler + SavedIds{0}.bytes();
  }
  for (uint32_t i = 0; sound && i < header->logit_count; ++i) {
    int32_t row;
    memcpy(&row, in + at + i * sizeof row, sizeof row);
    sound = row >= -1 && row < static_cast<int32_t>(header->selected_rows);
  }
  return sound ? MOTE_OK : fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot is damaged");
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
  mote::SnapshotHeader header = mote::header_of(*session);
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
  mote::save_sequences(&saver, *session, {0, header.sequences});
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
  mote::SnapshotHeader header;
  mote_status status = mote::check_decoder(session, error);
  if (status == MOTE_OK) status = mote::check(*session, start, bytes, &header, error);
  if (status != MOTE_OK) return status;

  mote::end_run(session);
  session->program = 0;  // all programs that append have outputs of one width
  memset(session->lengths, 0, session->options.batch * sizeof(uint32_t));
  mote::clear_pages(session);
  mote::SavedSampler sampler;
  mote::Restorer restorer(start + sizeof header);
  mote::clear_segments(session);
  mote::restore_sequences(&restorer, session, {0, header.sequences});
  mote::transfer_rest(restorer, *session, header.logit_count, header.selected_rows, &sampler);
  session->sampler.sampling = sampler.sampling;
  session->sampler.random_state = sampler.random_state;
  session->sampler.recent_count = static_cast<uint32_t>(sampler.recent_count);
  session->logit_count = header.logit_count;
  session->run.selected_rows = header.selected_rows;
  return MOTE_OK;
}

}  // extern "C"
