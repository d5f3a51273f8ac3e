// SPDX-License-Identifier: Apache-2.0
//
// Of every golden model whose tokens are appended, those with sources too: a text has the same bits whatever
// the threads, the calls, the other sequences and the copies on the way, in each cache type.
#include <cstring>

#include "tests/support/appended_texts.h"
#include "tests/support/thread_pool.h"

namespace {

using test::in_turns;
using test::one_by_one;
using test::part_of;
using test::Places;
using Appended = test::AppendedTexts;

/// A text by itself, in calls of a few rows and of all.
void check_chunks(const test::OpenModel& model, const Appended& texts, const mote_platform& platform) {
  for (const uint32_t chunk : {1u, 2u, 3u, 7u, texts.rows()}) {
    CAPTURE(chunk);
    const test::OpenSession session(model, texts.options(1, chunk, platform));
    texts.encode(session.get(), {1});
    texts.check(session.get(), part_of(0, 1, 0, texts.rows()), chunk);
  }
}

/// Texts of equal and of mixed lengths, one after the other and row by row, in one call and in several.
void check_batches(const test::OpenModel& model, const Appended& texts, const mote_platform& platform) {
  const uint32_t all = texts.rows();
  const std::vector<std::vector<uint32_t>> lengths = {{all, all, all, all},
                                                      {all, 1, std::max(all / 3, 1u), all / 2 + 1}};
  for (const auto& ends : lengths) {
    std::vector<Places> parts;
    for (uint32_t i = 0; i < ends.size(); ++i) parts.push_back(part_of(i, i, 0, ends[i]));
    for (const bool turns : {false, true}) {
      const Places places = turns ? in_turns(parts) : one_by_one(parts);
      const bool one_call = turns == (ends.back() == all);
      const uint32_t chunk = one_call ? static_cast<uint32_t>(places.size()) : 11;
      CAPTURE(ends, turns, chunk);
      const test::OpenSession session(model, texts.options(4, chunk, platform));
      texts.encode(session.get(), {0, 1, 2, 3});
      texts.check(session.get(), places, chunk);
    }
  }
}

/// A copy goes on otherwise than what it was copied from, and sequences change places.
void check_copies(const test::OpenModel& model, const Appended& texts, const mote_platform& platform) {
  const uint32_t middle = texts.middle(), end = texts.rows(), chunk = 8;
  const test::OpenSession session(model, texts.options(4, chunk, platform));
  mote_session* const s = session.get();
  texts.encode(s, {0, 1});
  texts.check(s, in_turns({part_of(0, 0, 0, middle), part_of(1, 1, 0, end - 1)}), chunk);
  REQUIRE(mote_session_fork(s, 0, 2, nullptr) == MOTE_OK);
  texts.check(s, in_turns({part_of(0, 0, middle, end - 1), part_of(2, Appended::kBranch, middle, end - 2)}),
              chunk);
  // Appended 0, 1, the branch and none.
  const uint32_t from[] = {2, 0, 1, 0};
  REQUIRE(mote_session_reorder(s, from, nullptr) == MOTE_OK);
  texts.check(s,
              in_turns({part_of(0, Appended::kBranch, end - 2, end), part_of(1, 0, end - 1, end),
                        part_of(2, 1, end - 1, end), part_of(3, 0, end - 1, end)}),
              chunk);
}

/// What is saved in the middle goes on in a session of another number of threads, chunk and batch.
void check_restored(const test::OpenModel& model, const Appended& texts, const mote_platform& platform) {
  const uint32_t middle = texts.middle(), end = texts.rows();
  const test::OpenSession first(model, texts.options(2, 5, mote_platform_default())),
      second(model, texts.options(3, 16, platform));
  texts.encode(first.get(), {1, 2});
  texts.check(first.get(), in_turns({part_of(0, 1, 0, middle), part_of(1, 2, 0, end - 3)}), 5);
  test::AlignedBytes state(mote_session_state_bytes(first.get()));
  REQUIRE(mote_session_save(first.get(), state.data(), state.size(), nullptr, nullptr) == MOTE_OK);
  // The second session held something else.
  texts.encode(second.get(), {2, 0, 1});
  texts.check(second.get(), in_turns({part_of(0, 2, 0, 3), part_of(2, 1, 0, 2)}), 16);
  mote_error error{};
  const mote_status status = mote_session_restore(second.get(), state.data(), state.size(), &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  const Places rest = in_turns({part_of(0, 1, middle, end), part_of(1, 2, end - 3, end)});
  texts.check(second.get(), rest, 16);
  texts.check(first.get(), rest, 5);
}

/// One sequence that is saved in the middle goes on as another one of a session of another number of threads,
/// chunk and batch, whose others do not notice.
void check_restored_sequence(const test::OpenModel& model, const Appended& texts,
                             const mote_platform& platform) {
  const uint32_t middle = texts.middle(), end = texts.rows();
  const test::OpenSession first(model, texts.options(2, 5, mote_platform_default())),
      second(model, texts.options(3, 16, platform));
  texts.encode(first.get(), {1, 2});
  texts.check(first.get(), in_turns({part_of(0, 1, 0, end - 2), part_of(1, 2, 0, middle)}), 5);
  test::AlignedBytes state(mote_session_sequence_bytes(first.get(), 1));
  size_t written = 0;
  REQUIRE(mote_session_save_sequence(first.get(), 1, state.data(), state.size(), &written, nullptr) ==
          MOTE_OK);
  REQUIRE(written == state.size());
  texts.encode(second.get(), {0, 1, 0});
  texts.check(second.get(), in_turns({part_of(0, 0, 0, middle), part_of(1, 1, 0, 3), part_of(2, 0, 0, 2)}),
              16);
  mote_error error{};
  const mote_status status =
      mote_session_restore_sequence(second.get(), 2, state.data(), state.size(), &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  test::AlignedBytes again(mote_session_sequence_bytes(second.get(), 2));
  REQUIRE(mote_session_save_sequence(second.get(), 2, again.data(), again.size(), nullptr, nullptr) ==
          MOTE_OK);
  REQUIRE(again.size() == state.size());
  REQUIRE(std::memcmp(again.data(), state.data(), state.size()) == 0);
  texts.check(second.get(),
              in_turns({part_of(0, 0, middle, end), part_of(1, 1, 3, end), part_of(2, 2, middle, end)}), 16);
  texts.check(first.get(), in_turns({part_of(0, 1, end - 2, end), part_of(1, 2, middle, end)}), 5);
}

/// Tokens are taken back, as many as can be in part and all, and others come in their place.
void check_truncated(const test::OpenModel& model, const Appended& texts, const mote_platform& platform) {
  const uint32_t middle = texts.middle(), end = texts.rows();
  const test::OpenSession session(model, texts.options(2, 9, platform));
  mote_session* const s = session.get();
  texts.encode(s, {0, 1});
  texts.check(s, in_turns({part_of(0, 0, 0, end), part_of(1, 1, 0, end)}), 9);
  const uint32_t shortest = mote_session_shortest(s, 0);
  if (shortest <= middle) {
    REQUIRE(mote_session_truncate(s, 0, middle, nullptr) == MOTE_OK);
    texts.check(s, part_of(0, Appended::kBranch, middle, end), 9);
    REQUIRE(mote_session_truncate(s, 1, end - 1, nullptr) == MOTE_OK);
    texts.check(s, part_of(1, 1, end - 1, end), 9);
  }
  REQUIRE(mote_session_truncate(s, 0, 0, nullptr) == MOTE_OK);
  texts.check(s, part_of(0, 0, 0, end), 9);
}

/// f(texts) of each program that appends, in each cache type that the model takes.
template <class F>
uint32_t each_append(const test::OpenModel& model, F f) {
  uint32_t programs = 0;
  for (uint32_t p = 0; p < mote_model_programs(model.get()); ++p) {
    if (mote::is_whole(*model.get()->root->programs()->Get(p))) continue;
    ++programs;
    for (const mote_kv_dtype cache : test::cache_types(model)) {
      CAPTURE(p, static_cast<int>(cache));
      f(Appended(model, p, cache));
    }
  }
  return programs;
}

void check_appended(const std::string& type) {
  const test::ThreadPool two(2), four(4);
  uint32_t programs = 0;
  test::each_golden(type, [&](const test::OpenModel& model) {
    programs += each_append(model, [&](const Appended& texts) {
      for (const uint32_t threads : {1u, 2u, 3u, 4u}) {
        CAPTURE(threads);
        check_chunks(model, texts, test::serial_platform(threads));
      }
      for (const test::ThreadPool* pool : {&two, &four}) check_batches(model, texts, pool->platform());
      check_batches(model, texts, test::serial_platform(3));
      check_copies(model, texts, test::serial_platform(2));
      check_restored(model, texts, test::serial_platform(3));
      check_restored_sequence(model, texts, test::serial_platform(3));
      check_truncated(model, texts, test::serial_platform(4));
    });
  });
  REQUIRE(programs > 0);
}

}  // namespace

// The next two take minutes under the sanitizers, which see the memory in this one.
TEST("an appended text has the same bits with two threads, in any company, in every golden model") {
  const test::ThreadPool two(2);
  test::each_golden("q8g32", [&](const test::OpenModel& model) {
    for (uint32_t p = 0; p < mote_model_programs(model.get()); ++p) {
      if (mote::is_whole(*model.get()->root->programs()->Get(p))) continue;
      CAPTURE(p);
      const Appended texts(model, p, MOTE_KV_AUTO);
      check_batches(model, texts, two.platform());
      check_copies(model, texts, two.platform());
      check_restored(model, texts, two.platform());
      check_restored_sequence(model, texts, two.platform());
      check_truncated(model, texts, two.platform());
    }
  });
}

TEST("an appended text has the same bits in any calls and company, in every golden model in f32",
     "[values]") {
  check_appended("f32");
}

TEST("an appended text has the same bits in any calls and company, in every golden model in 8 bits",
     "[values]") {
  check_appended("q8g32");
}
