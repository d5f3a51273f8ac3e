// SPDX-License-Identifier: Apache-2.0
//
// Generations that keep to a grammar: with guesses of what it forces every golden model says what it says
// without, and the sessions of two threads share one grammar's tables.
#include <thread>

#include "mote/speculate.h"
#include "tests/grammar/schema_case.h"
#include "tests/support/appended_texts.h"

namespace {

using Ids = std::vector<int32_t>;

constexpr int32_t kFirstCharacter = ' ', kCharacters = '~' - ' ' + 1;

/// A vocabulary of so many ids: the printable characters, longer texts of the grammar, and others.
std::unique_ptr<test::Words> words_of(uint32_t vocab) {
  std::vector<std::string> texts;
  for (int32_t i = 0; i < kCharacters; ++i) texts.emplace_back(1, static_cast<char>(kFirstCharacter + i));
  for (const char* text : {"al", "pha\"", "\"beta"}) texts.emplace_back(text);
  while (texts.size() + 1 < vocab) texts.push_back("x" + std::to_string(texts.size()));
  texts.resize(vocab - 1);
  texts.emplace_back("</s>");
  return std::make_unique<test::Words>(std::move(texts));
}

mote::grammar::Source shape() {
  return test::schema_source(R"({"type":"array","items":{"enum":["alpha","beta gamma","beta delta"]},
                                 "minItems":1,"maxItems":3})");
}

/// A matcher of an empty answer and all that a generation takes with it. It asserts nothing, since assertions
/// are for one thread.
class Constraint {
 public:
  explicit Constraint(const test::Tables& tables)
      : memory_(mote_matcher_bytes(&tables.open()) / 8 + 1),
        mask_((tables.words().count() + 31) / 32),
        scratch_(mote_matcher_scratch_bytes(&tables.open()) / 8 + 1) {
    mote_matcher_init(memory_.data(), memory_.size() * 8, &tables.open(), &constraint_.matcher, nullptr);
    constraint_.mask = mask_.data();
    constraint_.scratch = scratch_.data();
    constraint_.scratch_bytes = scratch_.size() * 8;
  }
  Constraint(const Constraint&) = delete;

  const mote_constraint* get() const { return &constraint_; }
  /// Returns what the answer is bound to go on with, a character a token.
  Ids forced(size_t most) const {
    std::string text(most, '\0');
    text.resize(mote_matcher_forced(constraint_.matcher, text.data(), most));
    Ids ids;
    for (const char c : text) ids.push_back(c - kFirstCharacter);
    return ids;
  }

 private:
  std::vector<uint64_t> memory_;
  std::vector<uint32_t> mask_;
  std::vector<uint64_t> scratch_;
  mote_constraint constraint_{};
};

/// Says an answer of the shape behind the prompt; `offer` gets the constraint before each further token.
/// Empty: a call failed.
template <class Offer>
Ids answer(mote_session* session, const test::Tables& tables, const Ids& prompt, mote_generation generation,
           Offer offer) {
  const Constraint constraint(tables);
  generation.constraint = constraint.get();
  if (mote_session_truncate(session, 0, 0, nullptr) != MOTE_OK) return {};
  if (mote_generation_begin(session, prompt.data(), static_cast<uint32_t>(prompt.size()), &generation,
                            nullptr) != MOTE_OK)
    return {};
  Ids ids;
  for (mote_event event{}; event.finish == MOTE_FINISH_NONE;) {
    if (mote_session_step(session, 0, &event, nullptr) != MOTE_OK) return {};
    ids.push_back(event.id);
    offer(constraint);
  }
  return ids;
}

mote_generation constrained(float temperature, uint64_t seed) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 18;
  generation.sampling.temperature = temperature;
  generation.sampling.seed = seed;
  return generation;
}

class ForcedGuesses {
 public:
  ForcedGuesses() {
    mote_speculation_options options = mote_speculation_options_default();
    options.most = 5;
    options.match = 1;
    options.places = 64;
    memory_ = test::AlignedBytes(mote_speculation_bytes(&options));
    mote_speculation_init(memory_.data(), memory_.size(), &options, &guesses_, nullptr);
  }
  mote_speculation* get() const { return guesses_; }
  void offer(const Constraint& constraint) {
    const Ids ids = constraint.forced(5);
    mote_speculation_offer(guesses_, ids.data(), static_cast<uint32_t>(ids.size()), nullptr);
  }
  uint64_t stood() const {
    mote_speculation_counts counts{};
    mote_speculation_get_counts(guesses_, &counts);
    return counts.stood;
  }

 private:
  test::AlignedBytes memory_;
  mote_speculation* guesses_ = nullptr;
};

}  // namespace

TEST("guesses: under a schema every golden model says what it says without, of what is forced or looked up",
     "[values]") {
  uint32_t models = 0, guessing = 0;
  test::each_golden("q8g32", [&](const test::OpenModel& model) {
    mote_program_info program{};
    mote_model_get_program(model.get(), 0, &program);
    const uint32_t vocab = model.info().vocab;
    if (program.whole != 0 || program.input_width != 0 || vocab <= kCharacters) return;
    ++models;
    const auto words = words_of(vocab);
    const test::Tables tables(shape(), *words, true);
    const Ids prompt = test::some_ids(6, vocab);
    const test::AppendedTexts texts(model, 0, MOTE_KV_AUTO);
    const test::OpenSession without(model, texts.options(1, 12, mote_platform_default())),
        with(model, texts.options(1, 12, mote_platform_default()));
    texts.encode(without.get(), {1});
    texts.encode(with.get(), {1});
    uint64_t stood = 0;
    for (const float temperature : {0.0f, 0.5f, 1.0f, 1.7f}) {
      for (uint64_t seed = 1; seed <= (temperature == 0 ? 1u : 5u); ++seed) {
        const mote_generation plain = constrained(temperature, seed);
        const Ids expected = answer(without.get(), tables, prompt, plain, [](const Constraint&) {});
        REQUIRE(!expected.empty());
        for (const bool forces : {true, false}) {
          ForcedGuesses guesses;
          mote_generation generation = plain;
          generation.guesses = guesses.get();
          const Ids said = answer(with.get(), tables, prompt, generation, [&](const Constraint& constraint) {
            if (forces) guesses.offer(constraint);
          });
          REQUIRE(said == expected);
          stood += guesses.stood();
        }
      }
    }
    if (mote_speculation_hindrance(with.get()) != nullptr) return;
    ++guessing;
    REQUIRE(stood > 0);
  });
  test::require_met_more(40, models);
  test::require_met_more(30, guessing);
}

TEST("two threads' sessions keep to one grammar's tables at once, each as alone") {
  const test::OpenModel model(test::golden_file("llama", "q8g32"));
  const auto words = words_of(model.info().vocab);
  const test::Tables tables(shape(), *words, true);
  mote_session_options options = test::small_options(model);
  options.logit_rows = 6;
  options.chunk = std::max(options.chunk, 6u);
  const auto say_all = [&](mote_session* session, uint64_t first_seed) {
    std::vector<Ids> all;
    for (uint64_t seed = first_seed; seed < first_seed + 12; ++seed) {
      ForcedGuesses guesses;
      mote_generation generation = constrained(1.0f, seed);
      generation.guesses = guesses.get();
      all.push_back(answer(session, tables, test::some_ids(6, 100), generation,
                           [&](const Constraint& constraint) { guesses.offer(constraint); }));
    }
    return all;
  };
  const test::OpenSession alone(model, options), one(model, options), other(model, options);
  const std::vector<Ids> expected = say_all(alone.get(), 1), expected_other = say_all(alone.get(), 100);
  std::vector<Ids> said, said_other;
  std::thread thread([&] { said_other = say_all(other.get(), 100); });
  said = say_all(one.get(), 1);
  thread.join();
  REQUIRE((said == expected));
  REQUIRE((said_other == expected_other));
  REQUIRE(!said[0].empty());
}
