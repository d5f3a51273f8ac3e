// SPDX-License-Identifier: Apache-2.0
//
// A byte of flags, then a snapshot: restored and, where that succeeds, continued and saved again. A snapshot
// ends in a hash that inputs made at random never have, so most are sealed here first.
#include "mote/mote.h"
#include "runtime/xxh64.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_model.h"
#include "tests/support/any_file.h"

namespace {

constexpr uint8_t kAsGiven = 1;  // of the flags; the others are fuzz::small_session's

void seal(const test::AlignedBytes& snapshot) {
  constexpr size_t kBytesAt = 24;  // in the header of runtime/snapshot.cpp
  const uint64_t bytes = snapshot.size();
  if (bytes < kBytesAt + 2 * sizeof bytes) return;
  std::memcpy(snapshot.data() + kBytesAt, &bytes, sizeof bytes);
  const uint64_t hash = mote::xxh64(snapshot.data(), bytes - sizeof hash);
  std::memcpy(snapshot.data() + bytes - sizeof hash, &hash, sizeof hash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const test::AlignedBytes snapshot(data + 1, size - 1);
  if ((data[0] & kAsGiven) == 0) seal(snapshot);
  mote_session* session = fuzz::small_session(data[0]);
  mote_error error{};
  if (mote_session_restore(session, snapshot.data(), snapshot.size(), &error) != MOTE_OK) {
    test::must(error.text[0] != '\0');
    return 0;
  }
  const uint32_t length = mote_session_length(session, 0);
  if (length > 0) mote_session_truncate(session, 0, length - 1, &error);
  int32_t id = 0;
  mote_sample(session, 0, &id, &error);
  test::generate_some(session);
  const test::AlignedBytes saved(mote_session_state_bytes(session));
  test::must(mote_session_save(session, saved.data(), saved.size(), nullptr, &error) == MOTE_OK);
  return 0;
}
