// SPDX-License-Identifier: Apache-2.0
//
// Saving one sequence of a session and restoring it as any sequence of another: its tokens, pages and states
// (snapshot_io.h), and the XXH64 of all. A snapshot is proved in full before the session changes.
#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/segments.h"
#include "runtime/exec/session.h"
#include "runtime/exec/snapshot_io.h"
#include "runtime/file/xxh64.h"

namespace mote {
namespace {

constexpr char kSequenceMagic[] = "MOTESEQU";

uint64_t sequence_bytes(const mote_session& session, uint32_t sequence) {
  return saved_sequence_bytes(session, {sequence, 1}) + sizeof(uint64_t);
}

mote_status check_sequence(const mote_session* session, uint32_t sequence, mote_error* error) {
  const mote_status status = check_decoder(session, error);
  if (status != MOTE_OK || sequence < session->options.batch) return status;
  return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " of ", session->options.batch);
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

size_t mote_session_sequence_bytes(const mote_session* session, uint32_t sequence) {
  if (session->model->encoder || sequence >= session->options.batch) return 0;
  return static_cast<size_t>(mote::sequence_bytes(*session, sequence));
}

mote_status mote_session_save_sequence(const mote_session* session, uint32_t sequence, void* out,
                                       size_t bytes, size_t* written, mote_error* error) {
  const mote_status status = mote::check_sequence(session, sequence, error);
  if (status != MOTE_OK) return status;
  if (mote::segment_start(*session, sequence) != 0) {
    return fail(error, MOTE_WRONG_STATE, "sequence ", sequence,
                " is in a further segment, which snapshots do not keep");
  }
  mote::SnapshotHeader header = mote::snapshot_header(*session, mote::kSequenceMagic, 1);
  header.bytes = mote::sequence_bytes(*session, sequence);
  if (out == nullptr || bytes < header.bytes) {
    return fail(error, MOTE_TOO_SMALL, "the snapshot takes ", header.bytes, " bytes, given ",
                uint64_t{bytes});
  }
  mote::Saver saver(out);
  saver.bytes(&header, sizeof header);
  mote::save_sequences(&saver, *session, {sequence, 1});
  const uint64_t hash = mote::xxh64(out, static_cast<size_t>(header.bytes - sizeof hash));
  saver.bytes(&hash, sizeof hash);
  if (written != nullptr) *written = static_cast<size_t>(header.bytes);
  return MOTE_OK;
}

mote_status mote_session_restore_sequence(mote_session* session, uint32_t sequence, const void* in,
                                          size_t bytes, mote_error* error) {
  if (in == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(in) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, "a snapshot must be 8-byte aligned");
  const uint8_t* start = static_cast<const uint8_t*>(in);
  mote::SnapshotHeader header;
  mote_status status = mote::check_sequence(session, sequence, error);
  if (status != MOTE_OK) return status;
  status = mote::check_header(mote::snapshot_header(*session, mote::kSequenceMagic, 1), start, bytes, &header,
                              error);
  if (status != MOTE_OK) return status;
  uint64_t at = 0;
  const mote::SavedSequences to{sequence, 1};
  if (header.sequences == 1) status = mote::check_sequences(*session, header, start, to, true, &at, error);
  if (status != MOTE_OK) return status;
  if (at != header.bytes - sizeof(uint64_t))
    return fail(error, MOTE_WRONG_SNAPSHOT, "the snapshot is damaged");
  mote::end_run(session);
  mote::forget_segment(session, sequence);
  mote::Restorer restorer(start + sizeof header);
  mote::restore_sequences(&restorer, session, to);
  return MOTE_OK;
}

}  // extern "C"
