// SPDX-License-Identifier: Apache-2.0
//
// Beam search, against one that computes every beam anew, and what limits it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "mote/beams.h"
#include "tests/support/source_model.h"
#include "tests/support/test_model.h"

using test::SourceRows;

namespace {

using Ids = std::vector<int32_t>;

constexpr uint32_t kBatch = 6;
constexpr int32_t kStart = 3;
constexpr float kOut = -1e9f;

const test::AlignedBytes& beam_file() {
  static const test::AlignedBytes file =
      test::graph_file(test::source_graph(SourceRows::ids, true), "source");
  return file;
}

const test::OpenModel& beam_model() {
  static const test::OpenModel model(beam_file());
  return model;
}

mote_session_options beam_session(uint32_t batch) {
  mote_session_options options = mote_session_options_default(beam_model().get());
  options.batch = options.logit_rows = batch;
  options.context = 64;
  return options;
}

/// Sequence 0 with a source and the start token; its logits are there.
void begin(mote_session* session) {
  const Ids source = test::some_ids(20, test::kSourceVocab, 4);
  const auto length = static_cast<uint32_t>(source.size());
  mote_batch batch{};
  batch.ids = source.data();
  batch.lengths = &length;
  batch.count = 1;
  for (uint32_t i = 0; i < kBatch; ++i) REQUIRE(mote_session_truncate(session, i, 0, nullptr) == MOTE_OK);
  REQUIRE(mote_encode(session, &batch, nullptr) == MOTE_OK);
  REQUIRE(mote_prefill(session, 0, &kStart, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
}

struct Found {
  Ids ids;
  float score;
};

std::vector<Found> search(mote_session* session, const mote_beam_options& options) {
  begin(session);
  std::vector<uint64_t> memory(mote_beam_bytes(session, &options) / sizeof(uint64_t) + 1);
  std::vector<mote_beam> beams(options.beams);
  mote_error error{};
  const mote_status status = mote_beam_search(session, &options, memory.data(),
                                              memory.size() * sizeof(uint64_t), beams.data(), &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<Found> found;
  for (const mote_beam& beam : beams) {
    if (beam.count != 0) found.push_back({Ids(beam.ids, beam.ids + beam.count), beam.score});
  }
  return found;
}

/// Searches in steps of so many operations; *steps becomes their number.
std::vector<Found> search_in_steps(mote_session* session, const mote_beam_options& options, uint32_t max_ops,
                                   uint32_t* steps) {
  begin(session);
  std::vector<uint64_t> memory(mote_beam_bytes(session, &options) / sizeof(uint64_t) + 1);
  mote_beam_run* run = nullptr;
  REQUIRE(mote_beam_begin(session, &options, memory.data(), memory.size() * sizeof(uint64_t), &run,
                          nullptr) == MOTE_OK);
  std::vector<mote_beam> beams(options.beams);
  REQUIRE(mote_beam_result(run, beams.data(), nullptr) == MOTE_WRONG_STATE);
  *steps = 0;
  for (int done = 0; done == 0; ++*steps) REQUIRE(mote_beam_step(run, max_ops, &done, nullptr) == MOTE_OK);
  REQUIRE(mote_beam_result(run, beams.data(), nullptr) == MOTE_OK);
  std::vector<Found> found;
  for (const mote_beam& beam : beams) {
    if (beam.count != 0) found.push_back({Ids(beam.ids, beam.ids + beam.count), beam.score});
  }
  return found;
}

/// The log-probabilities after the ids, of a session of its own.
std::vector<float> log_probabilities(mote_session* session, const Ids& ids) {
  begin(session);
  if (!ids.empty()) {
    const auto count = static_cast<uint32_t>(ids.size());
    REQUIRE(mote_prefill(session, 0, ids.data(), count, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  }
  std::vector<float> values = test::logits_of(session, test::kSourceVocab, 0);
  const float largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const float value : values) sum += std::exp(double{value} - largest);
  for (float& value : values) value -= largest + static_cast<float>(std::log(sum));
  return values;
}

/// What a rule does to the score of a token after `beam`; nothing for one that may not follow.
std::optional<float> ruled_score(const mote_beam_options& options, const Ids& beam, int32_t id, float score) {
  Ids all = {kStart};
  all.insert(all.end(), beam.begin(), beam.end());
  const size_t n = options.no_repeat_ngram;
  Ids last(all);
  last.push_back(id);
  for (size_t i = 0; n != 0 && i + n <= all.size(); ++i) {
    if (std::equal(all.begin() + static_cast<std::ptrdiff_t>(i),
                   all.begin() + static_cast<std::ptrdiff_t>(i + n),
                   last.end() - static_cast<std::ptrdiff_t>(n)))
      return std::nullopt;
  }
  if (beam.size() < options.min_tokens && id == options.stop_ids[0]) return std::nullopt;
  const bool seen = std::count(all.begin(), all.end(), id) != 0;
  return seen && options.repetition_penalty != 0 ? score * options.repetition_penalty : score;
}

/// The same search with lists that are sorted as a whole.
std::vector<Found> plain_search(mote_session* session, const mote_beam_options& options) {
  std::vector<Found> running = {{{}, 0}}, ended;
  bool improves = true;
  for (uint32_t length = 1; length <= options.max_tokens; ++length) {
    std::vector<Found> all;
    for (const Found& beam : running) {
      const std::vector<float> of_beam = log_probabilities(session, beam.ids);
      for (int32_t id = 0; id < static_cast<int32_t>(test::kSourceVocab); ++id) {
        const auto score = ruled_score(options, beam.ids, id, of_beam[static_cast<size_t>(id)]);
        if (!score) continue;
        Found next = beam;
        next.ids.push_back(id);
        next.score += *score;
        all.push_back(std::move(next));
      }
    }
    const auto better = [](const Found& a, const Found& b) { return a.score > b.score; };
    std::stable_sort(all.begin(), all.end(), better);
    const auto full = [&] { return ended.size() == options.beams; };
    const bool closed = !improves || (options.early_stopping == MOTE_STOP_EARLY && full());
    running.clear();
    for (size_t i = 0; i < all.size(); ++i) {
      const bool ends = all[i].ids.back() == options.stop_ids[0] || length == options.max_tokens;
      if (!ends && running.size() < options.beams) running.push_back(all[i]);
      if (!ends || closed || i >= options.beams) continue;
      Found one = all[i];
      one.score /= std::pow(static_cast<float>(length), options.length_penalty);
      ended.push_back(std::move(one));
    }
    std::stable_sort(ended.begin(), ended.end(), better);
    if (ended.size() > options.beams) ended.resize(options.beams);
    if (length == options.max_tokens) break;
    const bool longest = options.early_stopping == MOTE_STOP_NEVER && options.length_penalty > 0;
    const auto guessed = static_cast<float>(longest ? options.max_tokens : length);
    const float best = running[0].score / std::pow(guessed, options.length_penalty);
    improves = improves && best > (full() ? ended.back().score : kOut);
    if (!improves || (options.early_stopping == MOTE_STOP_EARLY && full())) break;
  }
  return ended;
}

mote_beam_options some_options(const int32_t* stop, uint32_t beams) {
  mote_beam_options options = mote_beam_options_default();
  options.beams = beams;
  options.max_tokens = 7;
  options.stop_ids = stop;
  options.stop_count = 1;
  options.ignore_model_stops = 1;
  return options;
}

}  // namespace

TEST("beam search finds what a search that computes every beam anew finds", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch)),
      plain(beam_model(), beam_session(kBatch));
  for (const int32_t stop : {2, 9, 13}) {
    for (const uint32_t beams : {1u, 2u, 5u}) {
      for (const mote_beam_stop early : {MOTE_STOP_AT_GUESS, MOTE_STOP_EARLY, MOTE_STOP_NEVER}) {
        for (const float penalty : {1.0f, 0.0f, 2.0f, -1.0f}) {
          mote_beam_options options = some_options(&stop, beams);
          options.early_stopping = early;
          options.length_penalty = penalty;
          const std::vector<Found> found = search(session.get(), options);
          const std::vector<Found> expected = plain_search(plain.get(), options);
          CAPTURE(stop, beams, early, penalty);
          TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
          for (size_t i = 0; i < found.size(); ++i) {
            CAPTURE(i);
            REQUIRE(found[i].ids == expected[i].ids);
            TEST_ASSERT_FLOAT_WITHIN(1e-4f * std::max(1.0f, std::fabs(expected[i].score)), expected[i].score,
                                     found[i].score);
          }
        }
      }
    }
  }
}

TEST("beams that may not end early or repeat themselves are those of the plain search", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch)),
      plain(beam_model(), beam_session(kBatch));
  const int32_t stop = 9;
  const std::vector<Found> free = search(session.get(), some_options(&stop, 4));
  size_t changed = 0;
  for (const uint32_t least : {0u, 4u}) {
    for (const uint32_t ngram : {0u, 1u, 2u}) {
      for (const float penalty : {0.0f, 1.6f}) {
        mote_beam_options options = some_options(&stop, 4);
        options.min_tokens = least;
        options.no_repeat_ngram = ngram;
        options.repetition_penalty = penalty;
        const std::vector<Found> found = search(session.get(), options);
        const std::vector<Found> expected = plain_search(plain.get(), options);
        CAPTURE(least, ngram, penalty);
        TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
        for (size_t i = 0; i < found.size(); ++i) {
          REQUIRE(found[i].ids == expected[i].ids);
          TEST_ASSERT_FLOAT_WITHIN(1e-4f * std::max(1.0f, std::fabs(expected[i].score)), expected[i].score,
                                   found[i].score);
        }
        changed += found[0].ids != free[0].ids ? 1 : 0;
      }
    }
  }
  TEST_ASSERT_GREATER_THAN(3u, changed);
}

TEST("one beam that stops early is a greedy search, whose penalty is of logits", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch));
  const int32_t stop = 9;
  for (const float penalty : {1.0f, 1.8f}) {
    mote_beam_options options = some_options(&stop, 1);
    options.early_stopping = MOTE_STOP_EARLY;
    options.repetition_penalty = penalty;
    const std::vector<Found> found = search(session.get(), options);
    begin(session.get());
    Ids all = {kStart};
    while (all.size() <= options.max_tokens && all.back() != stop) {
      std::vector<float> logits = test::logits_of(session.get(), test::kSourceVocab, 0);
      for (size_t id = 0; id < logits.size(); ++id) {
        if (std::count(all.begin(), all.end(), static_cast<int32_t>(id)) == 0) continue;
        logits[id] = logits[id] < 0 ? logits[id] * penalty : logits[id] / penalty;
      }
      all.push_back(static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
      REQUIRE(mote_prefill(session.get(), 0, &all.back(), 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    }
    CAPTURE(penalty);
    REQUIRE(found[0].ids == Ids(all.begin() + 1, all.end()));
  }
}

TEST("beams begin and end with forced tokens and never have suppressed ones", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch));
  const int32_t stop = 2;
  const std::vector<Found> free = search(session.get(), some_options(&stop, 4));
  const int32_t usual = free[0].ids[0], forced = usual == 5 ? 6 : 5, last = 11;
  mote_beam_options options = some_options(&stop, 4);
  options.forced_first_id = forced;
  options.forced_last_id = last;
  options.early_stopping = MOTE_STOP_NEVER;
  options.length_penalty = 8;
  for (const Found& one : search(session.get(), options)) {
    REQUIRE(one.ids[0] == forced);
    if (one.ids.size() == options.max_tokens) REQUIRE(one.ids.back() == last);
  }
  options = some_options(&stop, 4);
  options.suppressed_ids = &usual;
  options.suppressed_count = 1;
  for (const Found& one : search(session.get(), options))
    REQUIRE(std::count(one.ids.begin(), one.ids.end(), usual) == 0);
}

TEST("beam search refuses what it has no room for and what has no logits", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch));
  const int32_t stop = 2;
  begin(session.get());
  std::vector<uint64_t> memory(1024);
  mote_beam beams[kBatch];
  const auto run = [&](const mote_beam_options& options, size_t bytes) {
    return mote_beam_search(session.get(), &options, memory.data(), bytes, beams, nullptr);
  };
  const size_t all = memory.size() * sizeof(uint64_t);
  mote_beam_options options = some_options(&stop, kBatch + 1);
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  TEST_ASSERT_EQUAL_UINT32(0, mote_beam_bytes(session.get(), &options));
  options = some_options(&stop, 2);
  options.max_tokens = 65;
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options.max_tokens = 0;
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options = some_options(&stop, 2);
  options.forced_last_id = test::kSourceVocab;
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options = some_options(nullptr, 2);
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options = some_options(&stop, 2);
  options.length_penalty = NAN;
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options = some_options(&stop, 2);
  options.repetition_penalty = -1;
  REQUIRE(run(options, all) == MOTE_INVALID_ARGUMENT);
  options = some_options(&stop, 2);
  REQUIRE(run(options, mote_beam_bytes(session.get(), &options) - 1) == MOTE_TOO_SMALL);
  REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
  REQUIRE(run(options, all) == MOTE_WRONG_STATE);
}

TEST("a search in steps of any size finds the same hypotheses, in ever fewer steps", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch));
  const int32_t stop = 9;
  for (const uint32_t beams : {1u, 4u}) {
    const mote_beam_options options = some_options(&stop, beams);
    const std::vector<Found> expected = search(session.get(), options);
    uint32_t before = UINT32_MAX, steps = 0;
    for (const uint32_t max_ops : {1u, 3u, 1000u, 0u}) {
      const std::vector<Found> found = search_in_steps(session.get(), options, max_ops, &steps);
      CAPTURE(beams, max_ops, steps);
      TEST_ASSERT_LESS_THAN(before, steps);
      before = steps;
      TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
      for (size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i].ids == expected[i].ids);
        REQUIRE(std::memcmp(&found[i].score, &expected[i].score, sizeof(float)) == 0);
      }
    }
    TEST_ASSERT_EQUAL_UINT32(1, steps);
  }
}

TEST("a call that computes between two steps of a search ends it", "[beams]") {
  const test::OpenSession session(beam_model(), beam_session(kBatch));
  const int32_t stop = 9;
  const mote_beam_options options = some_options(&stop, 3);
  std::vector<uint64_t> memory(mote_beam_bytes(session.get(), &options) / sizeof(uint64_t) + 1);
  for (uint32_t before = 0; before < 20; ++before) {
    begin(session.get());
    mote_beam_run* run = nullptr;
    REQUIRE(mote_beam_begin(session.get(), &options, memory.data(), memory.size() * sizeof(uint64_t), &run,
                            nullptr) == MOTE_OK);
    int done = 0;
    for (uint32_t i = 0; i < before; ++i) REQUIRE(mote_beam_step(run, 2, &done, nullptr) == MOTE_OK);
    REQUIRE(done == 0);
    REQUIRE(mote_prefill(session.get(), 0, &kStart, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    mote_error error{};
    REQUIRE(mote_beam_step(run, 2, &done, &error) == MOTE_WRONG_STATE);
    TEST_ASSERT_EQUAL_STRING("another call has ended this beam search", error.text);
  }
}
