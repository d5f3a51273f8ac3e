// SPDX-License-Identifier: Apache-2.0
//
// Generations with guesses, step by step beside those without: ids, saved sessions and what can be asked
// between any two tokens are equal.
#include "mote/speculate.h"

#include "tests/support/appended_texts.h"

namespace {

constexpr uint32_t kMostGuessed = 5;

class Guesses {
 public:
  explicit Guesses(const mote_speculation_options& options) : memory_(mote_speculation_bytes(&options)) {
    mote_error error{};
    const mote_status status =
        mote_speculation_init(memory_.data(), memory_.size(), &options, &guesses_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  Guesses() : Guesses(options()) {}

  static mote_speculation_options options() {
    mote_speculation_options options = mote_speculation_options_default();
    options.most = kMostGuessed;
    options.match = 1;
    options.places = 64;
    return options;
  }
  mote_speculation* get() const { return guesses_; }
  mote_speculation_counts counts() const {
    mote_speculation_counts counts{};
    mote_speculation_get_counts(guesses_, &counts);
    return counts;
  }
  void offer(const std::vector<int32_t>& ids) {
    REQUIRE(mote_speculation_offer(guesses_, ids.data(), static_cast<uint32_t>(ids.size()), nullptr) ==
            MOTE_OK);
  }

 private:
  test::AlignedBytes memory_;
  mote_speculation* guesses_ = nullptr;
};

/// The state of a session whose last token is reported and not computed.
std::vector<uint8_t> saved_bytes(const mote_session* session) {
  test::AlignedBytes state(mote_session_state_bytes(session));
  size_t written = 0;
  REQUIRE(mote_session_save(session, state.data(), state.size(), &written, nullptr) == MOTE_OK);
  return {state.data(), state.data() + written};
}

struct Said {
  std::vector<int32_t> ids;
  std::vector<std::vector<uint8_t>> states;  // after each id
  std::vector<uint32_t> shortest;
  mote_finish finish = MOTE_FINISH_NONE;

  bool operator==(const Said& other) const = default;
};

/// Calls before(ids) before the run of each token.
template <class Before>
Said say(mote_session* session, const std::vector<int32_t>& prompt, const mote_generation& generation,
         uint32_t max_ops, Before before) {
  mote_error error{};
  INFO(error.text);
  REQUIRE(mote_session_truncate(session, 0, 0, nullptr) == MOTE_OK);
  REQUIRE(mote_generation_begin(session, prompt.data(), static_cast<uint32_t>(prompt.size()), &generation,
                                &error) == MOTE_OK);
  Said said;
  mote_event event{};
  while (event.finish == MOTE_FINISH_NONE) {
    REQUIRE(mote_session_step(session, max_ops, &event, &error) == MOTE_OK);
    if (event.has_token == 0) continue;
    said.ids.push_back(event.id);
    said.states.push_back(saved_bytes(session));
    said.shortest.push_back(mote_session_shortest(session, 0));
    REQUIRE(mote_session_logits(session, 0) == nullptr);
    before(said.ids);
  }
  said.finish = event.finish;
  return said;
}
Said say(mote_session* session, const std::vector<int32_t>& prompt, const mote_generation& generation) {
  return say(session, prompt, generation, 0, [](const std::vector<int32_t>&) {});
}

mote_session_options roomy(const test::OpenModel& model, uint32_t guesses) {
  mote_session_options options = test::small_options(model);
  options.logit_rows = 1 + guesses;
  options.chunk = std::max(options.chunk, 1 + guesses);
  return options;
}

mote_generation some_generation(uint32_t tokens, float temperature, uint64_t seed) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = tokens;
  generation.ignore_model_stops = 1;
  generation.sampling.temperature = temperature;
  generation.sampling.repetition_penalty = seed % 2 == 0 ? 1.0f : 1.3f;
  generation.sampling.top_k = seed % 3 == 0 ? 0 : 20;
  generation.sampling.seed = seed;
  return generation;
}

const test::OpenModel& guessed_llama() {
  static const test::OpenModel model(test::golden_file("llama", "q8g32"));
  return model;
}

/// The next ids of what is going to be said, of which every `period`-th is another one.
std::vector<int32_t> foresee(const std::vector<int32_t>& all, size_t said, size_t period) {
  std::vector<int32_t> next;
  for (size_t i = said; i < all.size() && next.size() < kMostGuessed; ++i)
    next.push_back(i % period == period - 1 ? (all[i] + 1) % 50 : all[i]);
  return next;
}

}  // namespace

TEST("guesses: every golden model that generates says the same and keeps the same, right or wrong") {
  uint32_t models = 0, guessing = 0;
  test::each_golden("q8g32", [&](const test::OpenModel& model) {
    mote_program_info program{};
    mote_model_get_program(model.get(), 0, &program);
    if (program.whole != 0 || program.input_width != 0) return;
    ++models;
    const auto prompt = test::some_ids(12, model.info().vocab);
    const mote_generation plain = some_generation(14, 0.8f, models);
    const test::AppendedTexts texts(model, 0, MOTE_KV_AUTO);
    const test::OpenSession without(model, texts.options(1, 12, mote_platform_default())),
        with(model, texts.options(1, 12, mote_platform_default()));
    texts.encode(without.get(), {1});
    texts.encode(with.get(), {1});
    const Said expected = say(without.get(), prompt, plain);
    for (const size_t period : {1u, 3u, 100u}) {
      CAPTURE(period);
      Guesses guesses;
      mote_generation generation = plain;
      generation.guesses = guesses.get();
      const Said said = say(with.get(), prompt, generation, 0, [&](const std::vector<int32_t>& ids) {
        guesses.offer(foresee(expected.ids, ids.size(), period));
      });
      REQUIRE(said.ids == expected.ids);
      REQUIRE((said == expected));
      const mote_speculation_counts counts = guesses.counts();
      if (mote_speculation_hindrance(with.get()) != nullptr) {
        REQUIRE(counts.guessed == 0);
        continue;
      }
      guessing += period == 100;
      if (period == 1) REQUIRE(counts.stood <= counts.guessed / 2);
      // Those that are right are picked from rows of one run.
      if (period == 100) REQUIRE(counts.stood == counts.guessed);
      if (period == 100) REQUIRE(counts.runs < expected.ids.size() / 2);
    }
  });
  test::require_met_more(50, models);
  test::require_met_more(40, guessing);
}

TEST(
    "guesses: a text that repeats itself is looked up, whatever the sampling, the steps, the window and "
    "pages") {
  std::vector<int32_t> prompt;
  while (prompt.size() < 112) {  // answers go on to a second page
    const auto again = test::some_ids(7, 100);
    prompt.insert(prompt.end(), again.begin(), again.end());
  }
  const test::AlignedBytes files[] = {test::file_with_context_600("llama", 66, "q8g32"),
                                      test::file_with_context_600("mistral", 58, "q8g32")};
  for (const test::AlignedBytes& file : files) {
    const test::OpenModel model(file, 0);
    mote_session_options options = roomy(model, kMostGuessed);
    options.context = 160;
    const test::OpenSession without(model, options), with(model, options);
    uint64_t stood = 0;
    for (const float temperature : {0.0f, 0.4f, 1.0f}) {
      for (uint64_t seed = 0; seed < 5; ++seed) {
        CAPTURE(temperature, seed);
        mote_generation generation = some_generation(40, temperature, seed);
        const Said expected = say(without.get(), prompt, generation);
        for (const uint32_t max_ops : {0u, 1u, 7u}) {
          Guesses guesses;
          generation.guesses = guesses.get();
          const Said said = say(with.get(), prompt, generation, max_ops, [](const auto&) {});
          REQUIRE((said == expected));
          stood += guesses.counts().stood;
        }
        generation.guesses = nullptr;
      }
    }
    REQUIRE(stood > 20);
  }
}

TEST("guesses: a stop id, a limit and a full context end a generation where they would without") {
  const test::OpenSession without(guessed_llama(), test::small_options(guessed_llama())),
      with(guessed_llama(), roomy(guessed_llama(), kMostGuessed));
  const auto prompt = test::some_ids(9, 100);
  for (uint32_t tokens = 1; tokens < 12; ++tokens) {
    mote_generation plain = some_generation(tokens, 0, 2);
    const Said free = say(without.get(), prompt, plain);
    const int32_t stop = free.ids[tokens / 2];
    for (const bool stops : {false, true}) {
      mote_generation generation = plain;
      if (stops) generation.stop_ids = &stop, generation.stop_count = 1;
      const Said expected = say(without.get(), prompt, generation);
      Guesses guesses;
      generation.guesses = guesses.get();
      const Said said = say(with.get(), prompt, generation, 0, [&](const std::vector<int32_t>& ids) {
        guesses.offer(foresee(free.ids, ids.size(), 100));
      });
      REQUIRE((said == expected));
    }
  }
  mote_session_options small = roomy(guessed_llama(), kMostGuessed),
                       plain = test::small_options(guessed_llama());
  small.context = plain.context = 20;
  const test::OpenSession narrow(guessed_llama(), plain), guessing(guessed_llama(), small);
  mote_generation generation = some_generation(0, 0, 2);
  const Said expected = say(narrow.get(), prompt, generation);
  REQUIRE(expected.finish == MOTE_FINISH_CONTEXT);
  Guesses guesses;
  generation.guesses = guesses.get();
  REQUIRE((say(guessing.get(), prompt, generation, 0, [&](const std::vector<int32_t>& ids) {
             guesses.offer(foresee(expected.ids, ids.size(), 100));
           }) == expected));
}

TEST("guesses: none is computed beyond the limit, and all are compared") {
  const test::OpenSession without(guessed_llama(), test::small_options(guessed_llama())),
      with(guessed_llama(), roomy(guessed_llama(), kMostGuessed));
  const auto prompt = test::some_ids(9, 100);
  mote_generation generation = some_generation(30, 0, 2);
  const Said expected = say(without.get(), prompt, generation);
  for (const uint32_t limit : {0u, 1u, 2u, 100u}) {
    Guesses guesses;
    mote_speculation_limit(guesses.get(), limit);
    generation.guesses = guesses.get();
    const Said said = say(with.get(), prompt, generation, 0, [&](const std::vector<int32_t>& ids) {
      guesses.offer(foresee(expected.ids, ids.size(), 100));
    });
    REQUIRE(said.ids == expected.ids);
    const mote_speculation_counts counts = guesses.counts();
    REQUIRE(counts.guessed <= counts.runs * std::min(limit, kMostGuessed));
    REQUIRE(counts.rows == counts.runs + counts.guessed);
    // Behind the last guess of a run none is compared.
    REQUIRE(counts.right >= expected.ids.size() * kMostGuessed / (kMostGuessed + 1) - 1);
    REQUIRE(counts.wrong == 0);
    if (limit == 0) REQUIRE(counts.guessed == 0);
  }
}

TEST("guesses: a caller that stops between guesses that stand goes on as if there had been none") {
  const test::OpenSession without(guessed_llama(), test::small_options(guessed_llama())),
      with(guessed_llama(), roomy(guessed_llama(), kMostGuessed));
  const auto prompt = test::some_ids(9, 100);
  const Said whole = say(without.get(), prompt, some_generation(12, 0, 2));
  for (size_t stop = 1; stop < 11; ++stop) {
    Guesses guesses;
    mote_generation generation = some_generation(12, 0, 2);
    generation.guesses = guesses.get();
    REQUIRE(mote_session_truncate(with.get(), 0, 0, nullptr) == MOTE_OK);
    REQUIRE(mote_generation_begin(with.get(), prompt.data(), 9, &generation, nullptr) == MOTE_OK);
    mote_event event{};
    for (size_t said = 0; said < stop;) {
      REQUIRE(mote_session_step(with.get(), 0, &event, nullptr) == MOTE_OK);
      REQUIRE(event.id == whole.ids[said++]);
      guesses.offer(foresee(whole.ids, said, 100));
    }
    const uint32_t length = mote_session_length(with.get(), 0);
    REQUIRE(length == 9 + stop - 1);
    REQUIRE(mote_prefill(with.get(), 0, &event.id, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    REQUIRE(mote_session_truncate(without.get(), 0, 0, nullptr) == MOTE_OK);
    std::vector<int32_t> tokens = prompt;
    tokens.insert(tokens.end(), whole.ids.begin(), whole.ids.begin() + static_cast<ptrdiff_t>(stop));
    REQUIRE(mote_prefill(without.get(), 0, tokens.data(), static_cast<uint32_t>(tokens.size()),
                         MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    REQUIRE(std::memcmp(mote_session_logits(with.get(), 0), mote_session_logits(without.get(), 0),
                        100 * sizeof(float)) == 0);
  }
}

TEST("guesses: wrong options, memory and offers are refused") {
  mote_speculation* guesses = nullptr;
  mote_error error{};
  for (int wrong = 0; wrong < 6; ++wrong) {
    mote_speculation_options options = mote_speculation_options_default();
    if (wrong == 0) options.most = 0;
    if (wrong == 1) options.most = MOTE_MOST_GUESSES + 1;
    if (wrong == 2) options.match = 17;
    if (wrong == 3) options.places = 100;
    if (wrong == 4) options.places = 2;
    if (wrong == 5) options.places = 1u << 25;
    REQUIRE(mote_speculation_bytes(&options) == 0);
    test::AlignedBytes memory(4096);
    REQUIRE(mote_speculation_init(memory.data(), memory.size(), &options, &guesses, &error) ==
            MOTE_INVALID_ARGUMENT);
  }
  const mote_speculation_options options = mote_speculation_options_default();
  const size_t bytes = mote_speculation_bytes(&options);
  test::AlignedBytes memory(bytes + 8);
  REQUIRE(mote_speculation_init(memory.data(), bytes - 1, &options, &guesses, &error) == MOTE_TOO_SMALL);
  REQUIRE(mote_speculation_init(memory.data() + 4, bytes, &options, &guesses, &error) == MOTE_NOT_ALIGNED);
  REQUIRE(mote_speculation_init(memory.data(), bytes, &options, nullptr, &error) == MOTE_INVALID_ARGUMENT);
  REQUIRE(mote_speculation_init(memory.data(), bytes, &options, &guesses, &error) == MOTE_OK);
  const std::vector<int32_t> ids(9, 1);
  REQUIRE(mote_speculation_offer(guesses, ids.data(), 9, &error) == MOTE_INVALID_ARGUMENT);
  REQUIRE(mote_speculation_offer(guesses, nullptr, 1, &error) == MOTE_INVALID_ARGUMENT);
  REQUIRE(mote_speculation_offer(guesses, nullptr, 0, &error) == MOTE_OK);
}

TEST("guesses: ids that the vocabulary lacks are no guesses") {
  const test::OpenSession with(guessed_llama(), roomy(guessed_llama(), kMostGuessed));
  const auto prompt = test::some_ids(9, 100);
  Guesses guesses;
  mote_generation generation = some_generation(6, 0, 2);
  generation.guesses = guesses.get();
  const Said said = say(with.get(), prompt, generation, 0, [&](const std::vector<int32_t>&) {
    guesses.offer({-5, 1 << 30, 100, -1});
  });
  REQUIRE(said.ids.size() == 6);
  REQUIRE(guesses.counts().guessed == 0);
}

TEST("guesses: a session says why it computes none") {
  const auto hindrance = [](const char* name, uint32_t rows) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    mote_session_options options = test::small_options(model);
    options.logit_rows = rows;
    const test::OpenSession session(model, options);
    const char* why = mote_speculation_hindrance(session.get());
    return std::string(why == nullptr ? "" : why);
  };
  REQUIRE(hindrance("llama", 2).empty());
  REQUIRE(hindrance("llama", 1).find("room for one row") != std::string::npos);
  REQUIRE(hindrance("mamba", 2).find("keep no earlier tokens") != std::string::npos);
  REQUIRE(hindrance("transformer_xl", 2).find("segments") != std::string::npos);
  REQUIRE(hindrance("bert", 2).find("generates nothing") != std::string::npos);
}
