// SPDX-License-Identifier: Apache-2.0
//
// Every golden model that generates, with every source of guesses, sampling and rule: ids, and the bytes of
// the session between any two tokens, are those without guesses. So are they when the session is saved,
// restored or truncated there and goes on.
#include "mote/speculate.h"
#include "tests/support/appended_texts.h"

namespace {

using Ids = std::vector<int32_t>;

constexpr uint32_t kMost = 4, kTokens = 10;
constexpr uint32_t kPromptTokens = 9;

enum class GuessedOf { looked_up, known_text, right, half_right };
constexpr GuessedOf kAllSources[] = {GuessedOf::looked_up, GuessedOf::known_text, GuessedOf::right,
                                     GuessedOf::half_right};

class Guessing {
 public:
  Guessing() {
    mote_speculation_options options = mote_speculation_options_default();
    options.most = kMost;
    options.match = 1;
    options.places = 64;
    memory_ = test::AlignedBytes(mote_speculation_bytes(&options));
    REQUIRE(mote_speculation_init(memory_.data(), memory_.size(), &options, &guesses_, nullptr) == MOTE_OK);
  }
  mote_speculation* get() const { return guesses_; }
  uint64_t stood() const {
    mote_speculation_counts counts{};
    mote_speculation_get_counts(guesses_, &counts);
    return counts.stood;
  }
  /// Knows what is going to be said, from the source.
  void prepare(GuessedOf source, const Ids& all) {
    if (source == GuessedOf::known_text)
      mote_speculation_precede(guesses_, all.data(), static_cast<uint32_t>(all.size()));
  }
  void offer(GuessedOf source, const Ids& all, size_t said) {
    if (source == GuessedOf::looked_up || source == GuessedOf::known_text) return;
    Ids ids;
    for (size_t i = said; i < all.size() && ids.size() < kMost; ++i)
      ids.push_back(source == GuessedOf::half_right && i % 2 == 1 ? all[i] ^ 1 : all[i]);
    REQUIRE(mote_speculation_offer(guesses_, ids.data(), static_cast<uint32_t>(ids.size()), nullptr) ==
            MOTE_OK);
  }

 private:
  test::AlignedBytes memory_;
  mote_speculation* guesses_ = nullptr;
};

test::AlignedBytes state_behind(const mote_session* session) {
  test::AlignedBytes state(mote_session_state_bytes(session));
  size_t written = 0;
  REQUIRE(mote_session_save(session, state.data(), state.size(), &written, nullptr) == MOTE_OK);
  REQUIRE(written == state.size());
  return state;
}

bool same_bytes(const test::AlignedBytes& a, const test::AlignedBytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// An answer as it is after each token.
struct Told {
  Ids ids;
  std::vector<test::AlignedBytes> states;
};

mote_generation sampled(float temperature, uint64_t seed) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = kTokens;
  generation.ignore_model_stops = 1;
  generation.sampling.temperature = temperature;
  generation.sampling.top_k = seed % 2 == 0 ? 0 : 12;
  generation.sampling.seed = seed;
  return generation;
}

/// Generates behind the session's tokens; `check` is called with what was told so far.
template <class Check>
Told tell(mote_session* session, const Ids& prompt, const mote_generation& generation, Check check) {
  mote_error error{};
  const mote_status status = mote_generation_begin(session, prompt.data(),
                                                   static_cast<uint32_t>(prompt.size()), &generation, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  Told told;
  mote_event event{};
  while (event.finish == MOTE_FINISH_NONE) {
    REQUIRE(mote_session_step(session, 0, &event, &error) == MOTE_OK);
    told.ids.push_back(event.id);
    told.states.push_back(state_behind(session));
    check(told);
  }
  return told;
}

void clear(mote_session* session) { REQUIRE(mote_session_truncate(session, 0, 0, nullptr) == MOTE_OK); }

/// A golden model with two sessions that hold the same source.
struct Pair {
  Pair(const test::OpenModel& of, const test::AppendedTexts& texts)
      : without(of, texts.options(1, 12, mote_platform_default())),
        with(of, texts.options(1, 12, mote_platform_default())),
        third(of, texts.options(1, 12, mote_platform_default())),
        context(texts.options(1, 12, mote_platform_default()).context) {
    for (const test::OpenSession* session : {&without, &with, &third}) texts.encode(session->get(), {1});
  }
  test::OpenSession without, with, third;
  uint32_t context;
};

/// Walks all models whose first program appends ids.
template <class F>
void each_generating(F f) {
  test::each_golden("q8g32", [&](const test::OpenModel& model) {
    mote_program_info program{};
    mote_model_get_program(model.get(), 0, &program);
    if (program.whole != 0 || program.input_width != 0) return;
    const test::AppendedTexts texts(model, 0, MOTE_KV_AUTO);
    const Pair pair(model, texts);
    f(model, pair);
  });
}

/// Says a generation with guesses of each source; it must be what it is without.
uint64_t require_same(const Pair& pair, const Ids& prompt, const mote_generation& plain) {
  uint64_t stood = 0;
  clear(pair.without.get());
  const Told expected = tell(pair.without.get(), prompt, plain, [](const Told&) {});
  for (const GuessedOf source : kAllSources) {
    Guessing guessing;
    guessing.prepare(source, expected.ids);
    mote_generation generation = plain;
    generation.guesses = guessing.get();
    clear(pair.with.get());
    const Told told = tell(pair.with.get(), prompt, generation, [&](const Told& so_far) {
      const size_t said = so_far.ids.size();
      REQUIRE(so_far.ids.back() == expected.ids[said - 1]);
      REQUIRE(same_bytes(so_far.states.back(), expected.states[said - 1]));
      guessing.offer(source, expected.ids, said);
    });
    REQUIRE(told.ids == expected.ids);
    stood += guessing.stood();
  }
  return stood;
}

}  // namespace

TEST("guesses: of every golden model, source, temperature and seed are ids and states those without",
     "[values]") {
  uint32_t models = 0, guessing = 0;
  each_generating([&](const test::OpenModel& model, const Pair& pair) {
    ++models;
    const Ids prompt = test::some_ids(kPromptTokens, model.info().vocab);
    uint64_t stood = require_same(pair, prompt, sampled(0, 0));
    for (const float temperature : {0.5f, 1.0f, 1.7f})
      for (uint64_t seed = 1; seed <= 5; ++seed)
        stood += require_same(pair, prompt, sampled(temperature, seed));
    if (mote_speculation_hindrance(pair.with.get()) == nullptr) {
      ++guessing;
      REQUIRE(stood > 100);
    } else {
      REQUIRE(stood == 0);
    }
  });
  test::require_met_more(50, models);
  test::require_met_more(40, guessing);
}

TEST("guesses: penalties, rules of tokens and stop ids change nothing of them", "[values]") {
  each_generating([&](const test::OpenModel& model, const Pair& pair) {
    const Ids prompt = test::some_ids(kPromptTokens, model.info().vocab);
    mote_token_rules rules{};
    rules.no_repeat_ngram = 2;
    rules.repetition_penalty = 1.2f;
    rules.min_tokens = 3;
    for (const float temperature : {0.0f, 1.0f}) {
      mote_generation generation = sampled(temperature, 4);
      generation.sampling.repetition_penalty = 1.3f;
      generation.sampling.repetition_window = 16;
      require_same(pair, prompt, generation);
      generation.rules = &rules;
      require_same(pair, prompt, generation);
      generation.rules = nullptr;
      clear(pair.without.get());
      const Told free = tell(pair.without.get(), prompt, generation, [](const Told&) {});
      generation.stop_ids = &free.ids[kTokens / 2];
      generation.stop_count = 1;
      require_same(pair, prompt, generation);
    }
  });
}

TEST("guesses: a session that is saved, restored or truncated between two tokens goes on as without",
     "[values]") {
  each_generating([&](const test::OpenModel& model, const Pair& pair) {
    const Ids prompt = test::some_ids(kPromptTokens, model.info().vocab);
    const mote_generation plain = sampled(0.8f, 3);
    clear(pair.without.get());
    const Told expected = tell(pair.without.get(), prompt, plain, [](const Told&) {});
    Guessing guessing;
    mote_generation generation = plain;
    generation.guesses = guessing.get();
    const size_t room = pair.context - kPromptTokens;  // for a token at least behind those so far
    for (size_t at = 1; at < kTokens && at < room; ++at) {
      CAPTURE(at);
      clear(pair.with.get());
      REQUIRE(mote_generation_begin(pair.with.get(), prompt.data(), kPromptTokens, &generation, nullptr) ==
              MOTE_OK);
      mote_event event{};
      for (size_t said = 0; said < at;) {
        REQUIRE(mote_session_step(pair.with.get(), 0, &event, nullptr) == MOTE_OK);
        guessing.offer(GuessedOf::right, expected.ids, ++said);
      }
      // An answer goes on behind a restored state as it does without guesses.
      const test::AlignedBytes state = state_behind(pair.with.get());
      REQUIRE(same_bytes(state, expected.states[at - 1]));
      REQUIRE(mote_session_restore(pair.third.get(), state.data(), state.size(), nullptr) == MOTE_OK);
      REQUIRE(mote_session_restore(pair.without.get(), state.data(), state.size(), nullptr) == MOTE_OK);
      const Ids next = {expected.ids[at - 1]};
      Guessing further;
      mote_generation guessed = sampled(0, 0);
      const Told behind = tell(pair.without.get(), next, guessed, [](const Told&) {});
      guessed.guesses = further.get();
      const Told also = tell(pair.third.get(), next, guessed, [&](const Told& so_far) {
        further.offer(GuessedOf::half_right, behind.ids, so_far.ids.size());
      });
      REQUIRE(also.ids == behind.ids);
      REQUIRE(same_bytes(also.states.back(), behind.states.back()));
      // The session itself drops tokens, those of the guesses with them, and goes on.
      const uint32_t length = mote_session_length(pair.with.get(), 0);
      REQUIRE(length == kPromptTokens + at - 1);
      const uint32_t shortest = mote_session_shortest(pair.with.get(), 0);
      const uint32_t kept = std::max(shortest, length - 1);
      REQUIRE(mote_session_truncate(pair.with.get(), 0, kept, nullptr) == MOTE_OK);
      clear(pair.without.get());
      Ids held = prompt;
      held.insert(held.end(), expected.ids.begin(), expected.ids.end());
      held.resize(kept);
      mote_generation plain_again = sampled(0, 0);
      held.push_back(1);
      const Told fresh = tell(pair.without.get(), held, plain_again, [](const Told&) {});
      plain_again.guesses = further.get();
      const Told shortened = tell(pair.with.get(), {1}, plain_again, [&](const Told& so_far) {
        further.offer(GuessedOf::right, fresh.ids, so_far.ids.size());
      });
      REQUIRE(shortened.ids == fresh.ids);
      REQUIRE(same_bytes(shortened.states.back(), fresh.states.back()));
    }
  });
}
