// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "mote/sampler.h"
#include "tests/support/test_model.h"

namespace {

const float kInfinite = std::numeric_limits<float>::infinity();
const float kNotANumber = std::numeric_limits<float>::quiet_NaN();

mote_sampler_options options_of(uint32_t vocab, uint32_t capacity) {
  mote_sampler_options options{};
  options.sampling = mote_sampling_default();
  options.vocab = vocab;
  options.capacity = capacity;
  return options;
}

/// A sampler in memory of its own; copies are copies of the bytes.
class OwnSampler {
 public:
  explicit OwnSampler(const mote_sampler_options& options)
      : vocab_(options.vocab), memory_(mote_sampler_bytes(options.capacity)) {
    mote_error error{};
    const mote_status status = mote_sampler_init(memory_.data(), memory_.size(), &options, &sampler_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  OwnSampler(const OwnSampler& other) : vocab_(other.vocab_), memory_(other.memory_.size()) {
    std::memcpy(memory_.data(), other.memory_.data(), memory_.size());
    sampler_ = reinterpret_cast<mote_sampler*>(memory_.data());
  }

  mote_sampler* get() { return sampler_; }
  int32_t pick(const std::vector<float>& logits, const uint32_t* mask = nullptr) const {
    std::vector<mote_candidate> scratch(vocab_);
    int32_t id = -1;
    REQUIRE(mote_sampler_pick(sampler_, logits.data(), mask, scratch.data(), &id, nullptr) == MOTE_OK);
    return id;
  }
  void accept(int32_t id) { REQUIRE(mote_sampler_accept(sampler_, id, nullptr) == MOTE_OK); }
  void undo(uint32_t n) { REQUIRE(mote_sampler_undo(sampler_, n, nullptr) == MOTE_OK); }
  void see(const std::vector<int32_t>& ids) {
    REQUIRE(mote_sampler_see(sampler_, ids.data(), static_cast<uint32_t>(ids.size()), nullptr) == MOTE_OK);
  }

 private:
  uint32_t vocab_;
  test::AlignedBytes memory_;
  mote_sampler* sampler_ = nullptr;
};

std::vector<float> some_logits(uint32_t vocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 2.0f);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

mote_sampling lively(uint64_t seed) {
  mote_sampling sampling = mote_sampling_default();
  sampling.temperature = 0.9f;
  sampling.top_k = 20;
  sampling.top_p = 0.95f;
  sampling.repetition_penalty = 1.2f;
  sampling.seed = seed;
  return sampling;
}

}  // namespace

TEST("a sampler of its own picks what a generation of the session picks, for every kind of sampling") {
  static const test::OpenModel llama(test::golden_file("llama", "f32"));
  const std::vector<int32_t> forbidden{2, 5, 6, 1, 9};
  for (uint32_t kind = 0; kind < 6; ++kind) {
    mote_generation generation = mote_generation_default();
    generation.max_tokens = 20;
    generation.ignore_model_stops = 1;
    if (kind != 0) generation.sampling = lively(kind);
    if (kind == 2) generation.sampling.top_k = 0, generation.sampling.top_p = 1;
    if (kind == 3) generation.sampling.repetition_penalty = 1;
    mote_token_rules rules{};
    if (kind >= 4) {
      rules.no_repeat_ngram = 2;
      rules.repetition_penalty = kind == 5 ? 1.5f : 0.0f;
      rules.forbidden = forbidden.data();
      rules.forbidden_count = 5;
      generation.rules = &rules;
    }
    const auto prompt = test::some_ids(9, 100);
    const test::OpenSession session(llama, test::small_options(llama));
    std::vector<int32_t> expected;
    const auto collect = [](void* user, int32_t id) -> int {
      static_cast<std::vector<int32_t>*>(user)->push_back(id);
      return 0;
    };
    REQUIRE(mote_generate(session.get(), prompt.data(), 9, &generation, collect, &expected, nullptr,
                          nullptr) == MOTE_OK);

    mote_sampler_options options = mote_sampler_options_default(llama.get());
    options.sampling = generation.sampling;
    options.rules = rules;
    OwnSampler sampler(options);
    sampler.see(prompt);
    const test::OpenSession other(llama, test::small_options(llama));
    auto logits = test::prefill(other.get(), prompt, 100);
    for (const int32_t id : expected) {
      TEST_ASSERT_EQUAL_INT(id, sampler.pick(logits));
      TEST_ASSERT_EQUAL_INT(id, sampler.pick(logits));  // a pick changes nothing
      sampler.accept(id);
      REQUIRE(mote_decode(other.get(), &id, nullptr) == MOTE_OK);
      logits = test::logits_of(other.get(), 100);
    }
  }
}

TEST("copies of a sampler go on alike, and tokens taken back are as if they never were") {
  std::mt19937 random(3);
  mote_sampler_options options = options_of(50, 400);
  options.sampling = lively(11);
  options.frequency_penalty = 0.3f;
  options.presence_penalty = 0.2f;
  options.rules.no_repeat_ngram = 3;
  OwnSampler sampler(options);
  sampler.see({1, 2, 3, -1, 4});
  for (uint32_t step = 0; step < 60; ++step) {
    const auto logits = some_logits(50, step);
    OwnSampler copy(sampler);
    const uint32_t ahead = static_cast<uint32_t>(random() % 6);
    for (uint32_t i = 0; i < ahead; ++i) {
      if (random() % 4 == 0) {
        copy.see({static_cast<int32_t>(random() % 50)});
      } else {
        copy.accept(copy.pick(some_logits(50, static_cast<uint32_t>(random()))));
      }
    }
    copy.undo(ahead);
    TEST_ASSERT_EQUAL_UINT32(mote_sampler_length(sampler.get()), mote_sampler_length(copy.get()));
    TEST_ASSERT_EQUAL_UINT32(mote_sampler_generated(sampler.get()), mote_sampler_generated(copy.get()));
    const int32_t id = sampler.pick(logits);
    TEST_ASSERT_EQUAL_INT(id, copy.pick(logits));
    if (step % 20 == 19) sampler.see({7});
    sampler.accept(id);
  }
}

TEST("a mask leaves only what it allows; one that allows all changes nothing") {
  for (const bool greedy : {true, false}) {
    for (uint32_t vocab = 1; vocab < 70; vocab += 3) {
      mote_sampler_options options = options_of(vocab, 8);
      if (!greedy) options.sampling = lively(vocab);
      OwnSampler sampler(options);
      std::vector<uint32_t> mask((vocab + 31) / 32, 0xFFFFFFFFu);
      auto logits = some_logits(vocab, vocab);
      TEST_ASSERT_EQUAL_INT(sampler.pick(logits), sampler.pick(logits, mask.data()));
      for (uint32_t id = 0; id < vocab; ++id) {
        mask.assign(mask.size(), 0);
        mask[id / 32] = 1u << id % 32;
        TEST_ASSERT_EQUAL_INT(static_cast<int32_t>(id), sampler.pick(logits, mask.data()));
      }
      logits.assign(vocab, kNotANumber);  // the last mask's id is the first that it allows
      TEST_ASSERT_EQUAL_INT(static_cast<int32_t>(vocab - 1), sampler.pick(logits, mask.data()));
      mask.assign(mask.size(), 0);
      std::vector<mote_candidate> scratch(vocab);
      int32_t id;
      mote_error error{};
      TEST_ASSERT_EQUAL_INT(
          MOTE_INVALID_ARGUMENT,
          mote_sampler_pick(sampler.get(), logits.data(), mask.data(), scratch.data(), &id, &error));
      TEST_ASSERT_EQUAL_STRING("mote_sampler_pick: the mask allows no token", error.text);
    }
  }
}

TEST(
    "generated tokens lose the frequency penalty each time and the presence penalty once, the prompt's "
    "none") {
  mote_sampler_options options = options_of(4, 16);
  options.frequency_penalty = 0.5f;
  options.presence_penalty = 1.25f;
  OwnSampler sampler(options);
  sampler.see({3, 3, 3});
  TEST_ASSERT_EQUAL_INT(3, sampler.pick({0, 0, 0, 0.1f}));
  sampler.accept(3);  // has lost 1.75
  TEST_ASSERT_EQUAL_INT(3, sampler.pick({0, 0, 1, 2.76f}));
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({0, 0, 1, 2.74f}));
  sampler.accept(3);  // has lost 2.25
  TEST_ASSERT_EQUAL_INT(3, sampler.pick({0, 0, 1, 3.26f}));
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({0, 0, 1, 3.24f}));
  sampler.see({0});  // a generation begins
  TEST_ASSERT_EQUAL_INT(3, sampler.pick({0, 0, 1, 1.1f}));
}

TEST("biases are added before the penalties, and -INFINITY is never picked while another can be") {
  const mote_logit_bias biases[] = {{1, 2.0f}, {2, -kInfinite}};
  mote_sampler_options options = options_of(3, 4);
  options.biases = biases;
  options.bias_count = 2;
  options.sampling.repetition_penalty = 2;
  OwnSampler sampler(options);
  TEST_ASSERT_EQUAL_INT(1, sampler.pick({1.9f, 0, 100}));
  sampler.accept(1);
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({1.1f, 0, 100}));  // (0 + 2) / 2
  TEST_ASSERT_EQUAL_INT(1, sampler.pick({0.9f, 0, 100}));
  options.sampling = lively(1);
  OwnSampler random(options);
  for (uint32_t i = 0; i < 4; ++i) {
    const int32_t id = random.pick({1, 1, 1});
    TEST_ASSERT_TRUE(id != 2);
    random.accept(id);
  }
}

TEST("stop ids wait for the fewest tokens of the rules") {
  const int32_t stops[] = {0, 1};
  mote_sampler_options options = options_of(3, 8);
  options.rules.min_tokens = 2;
  options.stop_ids = stops;
  options.stop_count = 2;
  OwnSampler sampler(options);
  sampler.see({0, 1});
  for (uint32_t i = 0; i < 2; ++i) {
    TEST_ASSERT_EQUAL_INT(2, sampler.pick({5, 4, 1}));
    sampler.accept(2);
  }
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({5, 4, 1}));
  sampler.undo(1);
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({5, 4, 1}));
}

TEST("log-probabilities are those of the softmax, and the likeliest tokens come in order") {
  auto logits = some_logits(300, 5);
  logits[17] = kNotANumber;
  logits[40] = logits[41] = 9.0f;  // equals: the lower id first
  double sum = 0;
  for (const float logit : logits) sum += std::isnan(logit) ? 0 : std::exp(static_cast<double>(logit));
  for (int32_t id = 0; id < 300; ++id) {
    const float found = mote_log_probability(logits.data(), 300, id);
    if (id == 17) {
      TEST_ASSERT_TRUE(found == -kInfinite);
    } else {
      TEST_ASSERT_DOUBLE_WITHIN(2e-6, static_cast<double>(logits[static_cast<size_t>(id)]) - std::log(sum),
                                static_cast<double>(found));
    }
  }
  std::vector<int32_t> order(300);
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + 17);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  for (const uint32_t n : {0u, 1u, 2u, 7u, 299u, 300u, 400u}) {
    std::vector<mote_candidate> best(n + 1, {0, -7});
    const uint32_t count = mote_likeliest(logits.data(), 300, best.data(), n);
    TEST_ASSERT_EQUAL_UINT32(n < 299 ? n : 299, count);
    for (uint32_t i = 0; i < count; ++i) {
      TEST_ASSERT_EQUAL_INT(order[i], best[i].id);
      TEST_ASSERT_TRUE(best[i].score == mote_log_probability(logits.data(), 300, best[i].id));
    }
    TEST_ASSERT_EQUAL_INT(-7, best[n].id);
  }
  const std::vector<float> infinite{1, kInfinite, -kInfinite, kInfinite};
  TEST_ASSERT_TRUE(mote_log_probability(infinite.data(), 4, 0) == -kInfinite);
  TEST_ASSERT_TRUE(mote_log_probability(infinite.data(), 4, 3) == 0);
  TEST_ASSERT_TRUE(mote_log_probability(infinite.data(), 4, 4) == -kInfinite);
  TEST_ASSERT_TRUE(mote_log_probability(infinite.data(), 4, -1) == -kInfinite);
}

TEST("a sampler refuses what is wrong with its options, its memory and its tokens") {
  mote_sampler_options options = options_of(10, 4);
  alignas(8) uint8_t memory[1024];
  mote_sampler* sampler = nullptr;
  mote_error error{};
  const auto init = [&](size_t bytes) {
    return mote_sampler_init(memory, bytes, &options, &sampler, &error);
  };
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, init(mote_sampler_bytes(4) - 1));
  TEST_ASSERT_EQUAL_INT(MOTE_NOT_ALIGNED, mote_sampler_init(memory + 4, 1000, &options, &sampler, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_init(nullptr, 9, &options, &sampler, &error));
  const auto refuses = [&](auto change, const char* text) {
    options = options_of(10, 4);
    change();
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, init(1024));
    TEST_ASSERT_EQUAL_STRING(text, error.text);
    options = options_of(10, 4);
  };
  refuses([&] { options.vocab = 0; }, "the vocabulary has no tokens, or more than 2^31 - 1");
  refuses([&] { options.bias_count = 1; }, "biases: null pointer");
  refuses([&] { options.stop_count = 1; }, "stop_ids: null pointer");
  refuses([&] { options.presence_penalty = kNotANumber; },
          "frequency_penalty and presence_penalty must be numbers");
  const mote_logit_bias outside{10, 1.0f}, too_much{1, kInfinite};
  refuses([&] { options.biases = &outside, options.bias_count = 1; }, "a bias is of an id that is none");
  refuses([&] { options.biases = &too_much, options.bias_count = 1; },
          "a bias must be a number, or -INFINITY");
  refuses([&] { options.sampling.top_p = 0; }, "top_p must be above 0 and at most 1");

  TEST_ASSERT_EQUAL_INT(MOTE_OK, init(mote_sampler_bytes(4)));
  const int32_t ids[] = {1, 2, 10, -2};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_see(sampler, ids, 3, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_see(sampler, ids + 3, 1, &error));
  TEST_ASSERT_EQUAL_UINT32(0, mote_sampler_length(sampler));
  for (uint32_t i = 0; i < 2; ++i) TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sampler_see(sampler, ids, 2, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_sampler_accept(sampler, 1, &error));
  TEST_ASSERT_EQUAL_STRING("the sampler has 4 tokens and room for 4, 1 more were given", error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_undo(sampler, 5, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sampler_undo(sampler, 4, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_accept(sampler, 10, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sampler_accept(sampler, -1, &error));
  int32_t id;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_sampler_pick(sampler, nullptr, nullptr, nullptr, &id, &error));
}

TEST("penalties over thousands of generated tokens take one pass over them") {
  mote_sampler_options options = options_of(1000, 8000);
  options.presence_penalty = 1;
  OwnSampler sampler(options);
  for (int32_t i = 0; i < 8000; ++i) sampler.accept(i % 999);
  const std::vector<float> logits(1000, 0.5f);
  TEST_ASSERT_EQUAL_INT(999, sampler.pick(logits));
}
