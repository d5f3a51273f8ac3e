// SPDX-License-Identifier: Apache-2.0
//
// kRestoreChoices of options and calls, then a snapshot: restored and, where that succeeds, saved again and
// continued beside a second session that restores the same. Before that, now and then, as one sequence.
#include "runtime/file/xxh64.h"
#include "schema/f16.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_model.h"
#include "tests/fuzz/restore_choices.h"
#include "tests/support/any_calls.h"

namespace {

using test::must;

/// Gives a snapshot the session's own header, but for what counts its parts, and the hash that it needs:
/// inputs made at random never have these.
void seal(const test::AlignedBytes& snapshot, const test::AlignedBytes& own) {
  constexpr size_t kBytesAt = 24, kCountsAt = 44, kHeaderBytes = 56;  // in runtime/exec/snapshot.cpp
  const uint64_t bytes = snapshot.size();
  if (bytes < kHeaderBytes + sizeof bytes) return;
  std::memcpy(snapshot.data(), own.data(), kCountsAt);
  std::memcpy(snapshot.data() + kBytesAt, &bytes, sizeof bytes);
  const uint64_t hash = mote::xxh64(snapshot.data(), bytes - sizeof hash);
  std::memcpy(snapshot.data() + bytes - sizeof hash, &hash, sizeof hash);
}

bool same(const test::AlignedBytes& a, const test::AlignedBytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// The bits of a row of logits, or none. One NaN is as good as another.
std::vector<uint32_t> logits_of(const mote_session* session, uint32_t row) {
  const float* logits = mote_session_logits(session, row);
  std::vector<uint32_t> bits;
  for (uint32_t i = 0; logits != nullptr && i < 16; ++i) {
    bits.push_back(std::isnan(logits[i]) ? 0x7FC00000 : mote::bits_from_f32(logits[i]));
  }
  return bits;
}

/// Both sessions hold the same: any call does the same to both.
void continue_both(mote_session* a, mote_session* b, test::Choices* choices) {
  const int32_t ids[] = {1, 7, 15, 4, 0, 2, 3};
  const uint32_t sequence = choices->below(2), n = 1 + choices->below(7);
  const uint32_t length = choices->below(mote_session_length(a, sequence) + 1);
  mote_error error{};
  int32_t picked[2] = {};
  must(mote_sample(a, 0, &picked[0], &error) == mote_sample(b, 0, &picked[1], &error));
  must(picked[0] == picked[1]);
  must(mote_session_truncate(a, sequence, length, &error) ==
       mote_session_truncate(b, sequence, length, &error));
  must(mote_prefill(a, sequence, ids, n, MOTE_LOGITS_LAST, &error) ==
       mote_prefill(b, sequence, ids, n, MOTE_LOGITS_LAST, &error));
  must(logits_of(a, 0) == logits_of(b, 0));
}

test::AlignedBytes save_sequence(const mote_session* session, uint32_t sequence) {
  test::AlignedBytes state(mote_session_sequence_bytes(session, sequence));
  must(mote_session_save_sequence(session, sequence, state.data(), state.size(), nullptr, nullptr) ==
       MOTE_OK);
  return state;
}

/// The rest of the input as a snapshot of one sequence: restored and, where that succeeds, saved again and
/// continued.
void restore_sequence(mote_session* session, uint32_t batch, const test::AlignedBytes& input, bool as_given,
                      test::Choices* choices) {
  const uint32_t sequence = choices->below(batch);
  test::AlignedBytes snapshot(input.size());
  std::memcpy(snapshot.data(), input.data(), input.size());
  if (!as_given) seal(snapshot, save_sequence(session, sequence));
  const test::AlignedBytes before = test::save(session);
  mote_error error{};
  if (mote_session_restore_sequence(session, sequence, snapshot.data(), snapshot.size(), &error) != MOTE_OK) {
    must(error.text[0] != '\0');
    must(same(before, test::save(session)));
    return;
  }
  const test::AlignedBytes saved = save_sequence(session, sequence);
  must(mote_session_restore_sequence(session, sequence, saved.data(), saved.size(), &error) == MOTE_OK);
  must(same(saved, save_sequence(session, sequence)));
  const int32_t ids[] = {1, 7, 15};
  mote_prefill(session, sequence, ids, 1 + choices->below(3), MOTE_LOGITS_LAST, &error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t chosen = std::min(size, fuzz::kRestoreChoices);
  test::Choices choices(data, chosen);
  const test::AlignedBytes snapshot(data + chosen, size - chosen);
  const mote_session_options options = test::choose_options(fuzz::kept_model(), &choices);
  test::AnySession session, second;
  if (session.open(fuzz::kept_model(), options) != MOTE_OK) return 0;
  const bool as_given = choices.below(8) == 1;
  test::AnyCalls calls(fuzz::kept_model(), session, options, fuzz::kept_file().size(), session.bytes(),
                       &choices);
  for (uint32_t left = choices.below(4); left > 0; --left) calls.make_one();

  if (choices.below(4) == 1) restore_sequence(session.get(), options.batch, snapshot, as_given, &choices);
  const test::AlignedBytes before = test::save(session.get());
  if (!as_given) seal(snapshot, before);
  mote_error error{};
  if (mote_session_restore(session.get(), snapshot.data(), snapshot.size(), &error) != MOTE_OK) {
    must(error.text[0] != '\0');
    must(same(before, test::save(session.get())));
    return 0;
  }
  const test::AlignedBytes saved = test::save(session.get());
  must(second.open(fuzz::kept_model(), options, 0x11) == MOTE_OK);
  must(mote_session_restore(second.get(), saved.data(), saved.size(), &error) == MOTE_OK);
  must(same(saved, test::save(second.get())));
  continue_both(session.get(), second.get(), &choices);
  must(same(test::save(session.get()), test::save(second.get())));
  for (int call = 0; call < 4 && choices.left(); ++call) calls.make_one();
  return 0;
}
