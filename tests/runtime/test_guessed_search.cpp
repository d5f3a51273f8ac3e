// SPDX-License-Identifier: Apache-2.0
//
// Greedy searches with guesses beside those without, the ids that guesses are looked up in, and those that a
// session holds.
#include "mote/beams.h"
#include "mote/speculate.h"
#include "tests/support/appended_texts.h"

namespace {

using Ids = std::vector<int32_t>;

class LookedUp {
 public:
  explicit LookedUp(uint32_t match) {
    mote_speculation_options options = mote_speculation_options_default();
    options.most = 4;
    options.match = match;
    options.places = 256;
    memory_ = test::AlignedBytes(mote_speculation_bytes(&options));
    REQUIRE(mote_speculation_init(memory_.data(), memory_.size(), &options, &guesses_, nullptr) == MOTE_OK);
  }
  mote_speculation* get() const { return guesses_; }
  mote_speculation_counts counts() const {
    mote_speculation_counts counts{};
    mote_speculation_get_counts(guesses_, &counts);
    return counts;
  }

 private:
  test::AlignedBytes memory_;
  mote_speculation* guesses_ = nullptr;
};

struct Hypothesis {
  Ids ids;
  float score = 0;
  std::vector<uint8_t> state;  // of the session at the end

  bool operator==(const Hypothesis& other) const = default;
};

/// Searches behind the token 3 in steps of so many operations.
Hypothesis search_guessing(mote_session* session, const mote_beam_options& options, uint32_t max_ops) {
  const int32_t start = 3;
  REQUIRE(mote_session_truncate(session, 0, 0, nullptr) == MOTE_OK);
  REQUIRE(mote_prefill(session, 0, &start, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  std::vector<uint64_t> memory(mote_beam_bytes(session, &options) / sizeof(uint64_t) + 1);
  mote_beam_run* run = nullptr;
  mote_error error{};
  INFO(error.text);
  REQUIRE(mote_beam_begin(session, &options, memory.data(), memory.size() * sizeof(uint64_t), &run, &error) ==
          MOTE_OK);
  for (int done = 0; done == 0;) REQUIRE(mote_beam_step(run, max_ops, &done, &error) == MOTE_OK);
  mote_beam beam{};
  REQUIRE(mote_beam_result(run, &beam, &error) == MOTE_OK);
  test::AlignedBytes state(mote_session_state_bytes(session));
  size_t written = 0;
  REQUIRE(mote_session_save(session, state.data(), state.size(), &written, nullptr) == MOTE_OK);
  return {Ids(beam.ids, beam.ids + beam.count), beam.score, {state.data(), state.data() + written}};
}

mote_beam_options greedy(uint32_t tokens, mote_beam_stop stop) {
  mote_beam_options options = mote_beam_options_default();
  options.max_tokens = tokens;
  options.early_stopping = stop;
  return options;
}

}  // namespace

TEST("guesses: a greedy search over every golden source finds the same with them, and keeps the same") {
  uint32_t sources = 0, stood = 0;
  test::each_golden("q8g32", [&](const test::OpenModel& model) {
    mote_program_info first{}, second{};
    mote_model_get_program(model.get(), 0, &first);
    mote_model_get_program(model.get(), 1, &second);
    if (first.whole != 0 || first.input_width != 0 || second.whole == 0) return;
    ++sources;
    const test::AppendedTexts texts(model, 0, MOTE_KV_AUTO);
    const test::OpenSession without(model, texts.options(1, 12, mote_platform_default())),
        with(model, texts.options(1, 12, mote_platform_default()));
    texts.encode(without.get(), {1});
    texts.encode(with.get(), {1});
    REQUIRE(mote_speculation_hindrance(with.get()) == nullptr);
    for (const mote_beam_stop stop : {MOTE_STOP_EARLY, MOTE_STOP_AT_GUESS}) {
      for (const uint32_t tokens : {1u, 2u, 16u}) {
        for (const float penalty : {1.0f, 1.4f}) {
          mote_beam_options options = greedy(std::min(tokens, model.info().context - 1), stop);
          options.repetition_penalty = penalty;
          CAPTURE(tokens, penalty);
          const Hypothesis expected = search_guessing(without.get(), options, 0);
          for (const bool knows : {false, true}) {  // what is going to be found, or what it has found so far
            for (const uint32_t max_ops : {0u, 1u}) {
              LookedUp guesses(1);
              if (knows)
                mote_speculation_precede(guesses.get(), expected.ids.data(),
                                         static_cast<uint32_t>(expected.ids.size()));
              options.guesses = guesses.get();
              REQUIRE((search_guessing(with.get(), options, max_ops) == expected));
              options.guesses = nullptr;
              stood += static_cast<uint32_t>(guesses.counts().stood);
            }
          }
        }
      }
    }
  });
  test::require_met_more(10, sources);
  test::require_met_more(100, stood);
}

TEST("guesses: several beams take none") {
  const test::OpenModel model(test::golden_file("marian", "f32"));
  const test::AppendedTexts texts(model, 0, MOTE_KV_AUTO);
  const test::OpenSession session(model, texts.options(2, 12, mote_platform_default()));
  texts.encode(session.get(), {1, 1});
  REQUIRE(mote_session_truncate(session.get(), 1, 0, nullptr) == MOTE_OK);
  const int32_t start = 3;
  REQUIRE(mote_prefill(session.get(), 0, &start, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  mote_beam_options options = greedy(8, MOTE_STOP_EARLY);
  options.beams = 2;
  LookedUp guesses(1);
  options.guesses = guesses.get();
  std::vector<uint64_t> memory(mote_beam_bytes(session.get(), &options) / sizeof(uint64_t) + 1);
  mote_beam beams[2];
  REQUIRE(mote_beam_search(session.get(), &options, memory.data(), memory.size() * sizeof(uint64_t), beams,
                           nullptr) == MOTE_OK);
  REQUIRE(guesses.counts().runs == 0);
}

TEST("guesses: they are looked up in the ids that come before the sequence's too") {
  const test::OpenModel model(test::golden_file("llama", "q8g32"));
  const test::OpenSession session(model, test::small_options(model));
  const Ids before = {7, 8, 9, 10, 11, 12}, own = {20, 8}, other = {9, 30, 31};
  REQUIRE(mote_prefill(session.get(), 0, own.data(), 2, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  LookedUp guesses(2);
  int32_t found[4];
  REQUIRE(mote_speculation_look_up(guesses.get(), session.get(), 9, found) == 0);
  mote_speculation_precede(guesses.get(), before.data(), 6);
  REQUIRE(mote_speculation_look_up(guesses.get(), session.get(), 9, found) == 4);
  REQUIRE(Ids(found, found + 4) == Ids{10, 11, 12, 20});
  REQUIRE(mote_speculation_look_up(guesses.get(), session.get(), 10, found) == 0);
  mote_speculation_precede(guesses.get(), other.data(), 3);  // in place of the earlier ones
  REQUIRE(mote_speculation_look_up(guesses.get(), session.get(), 9, found) == 0);
  mote_speculation_precede(guesses.get(), nullptr, 0);
  REQUIRE(mote_speculation_look_up(guesses.get(), session.get(), 9, found) == 0);
  REQUIRE(guesses.counts().runs == 0);
}

TEST("a session says the ids that it holds") {
  const test::OpenModel model(test::golden_file("llama", "q8g32"));
  const test::OpenSession session(model, test::small_options(model));
  REQUIRE(mote_session_ids(session.get(), 1) == nullptr);
  const Ids ids = test::some_ids(9, 100);
  REQUIRE(mote_prefill(session.get(), 0, ids.data(), 9, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  REQUIRE(mote_session_truncate(session.get(), 0, 7, nullptr) == MOTE_OK);
  const int32_t* held = mote_session_ids(session.get(), 0);
  REQUIRE(Ids(held, held + mote_session_length(session.get(), 0)) == Ids(ids.begin(), ids.begin() + 7));
}
