// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/sampler.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "mote/posix.h"
#include "tests/support/unity_style.h"

namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

class TestSampler {
 public:
  TestSampler(uint32_t vocab, const mote_sampling& sampling)
      : candidates_(vocab), recent_(MOTE_REPETITION_WINDOW) {
    sampler_.vocab = vocab;
    sampler_.candidates = candidates_.data();
    sampler_.recent = recent_.data();
    mote::sampler_start(&sampler_, sampling);
  }
  int32_t pick(const std::vector<float>& logits) { return mote::sampler_pick(&sampler_, logits.data()); }
  void see(int32_t id) { mote::sampler_see(&sampler_, id); }
  std::vector<double> frequencies(const std::vector<float>& logits, int draws) {
    std::vector<double> counts(logits.size());
    for (int i = 0; i < draws; ++i) counts[static_cast<size_t>(pick(logits))] += 1.0 / draws;
    return counts;
  }

 private:
  std::vector<mote::Candidate> candidates_;
  std::vector<int32_t> recent_;
  mote::Sampler sampler_{};
};

mote_sampling random_sampling(uint64_t seed = 7) {
  mote_sampling sampling = mote_sampling_default();
  sampling.temperature = 1;
  sampling.seed = seed;
  return sampling;
}

}  // namespace

TEST("greedy takes the largest and of equals the lowest id") {
  TestSampler sampler(5, mote_sampling_default());
  TEST_ASSERT_EQUAL_INT(1, sampler.pick({0, 3, 2, 3, 1}));
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({-kInfinity, -kInfinity, -5, -kInfinity, -6}));
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity}));
  TEST_ASSERT_EQUAL_INT(4, sampler.pick({0, 1, 2, 3, kInfinity}));
}

TEST("greedy finds the largest wherever it lies, past NaN") {
  for (const uint32_t vocab : {1u, 15u, 16u, 17u, 40u, 513u, 1100u}) {
    for (uint32_t at = 0; at < vocab; ++at) {
      std::vector<float> logits(vocab, -7.0f);
      logits[vocab / 2] = kNaN;
      logits[vocab - 1] = logits[at] = 2.0f;
      TestSampler sampler(vocab, mote_sampling_default());
      TEST_ASSERT_EQUAL_INT(static_cast<int>(at), sampler.pick(logits));
    }
  }
}

TEST("NaN logits are never picked and all NaN gives id 0") {
  for (const float temperature : {0.0f, 1.0f}) {
    mote_sampling sampling = random_sampling();
    sampling.temperature = temperature;
    TestSampler sampler(4, sampling);
    for (int i = 0; i < 50; ++i) {
      TEST_ASSERT_EQUAL_INT(2, sampler.pick({kNaN, kNaN, -100, kNaN}));
      TEST_ASSERT_EQUAL_INT(0, sampler.pick({kNaN, kNaN, kNaN, kNaN}));
    }
  }
}

TEST("at temperature 1 ids come as often as the softmax says") {
  TestSampler sampler(3, random_sampling());
  const auto seen = sampler.frequencies({std::log(0.5f), std::log(0.3f), std::log(0.2f)}, 40000);
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.5, seen[0]);
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.3, seen[1]);
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.2, seen[2]);
}

TEST("what top-k and min-p leave comes as often as the softmax of it says") {
  for (const bool top_k : {false, true}) {
    mote_sampling sampling = random_sampling();
    if (top_k) sampling.top_k = 2;
    if (!top_k) sampling.min_p = 0.55f;
    TestSampler sampler(3, sampling);
    const auto seen = sampler.frequencies({std::log(0.2f), std::log(0.5f), std::log(0.3f)}, 40000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, seen[0]);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.625, seen[1]);
  }
}

TEST("temperature sharpens and flattens") {
  mote_sampling sampling = random_sampling();
  sampling.temperature = 0.5f;
  const std::vector<float> logits{std::log(0.6f), std::log(0.4f)};
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.36 / (0.36 + 0.16),
                            TestSampler(2, sampling).frequencies(logits, 40000)[0]);
}

TEST("top-k, top-p and min-p drop the unlikely") {
  const std::vector<float> logits{std::log(0.1f), std::log(0.4f), std::log(0.05f), std::log(0.3f),
                                  std::log(0.15f)};
  const auto kept = [&](auto change) {
    mote_sampling sampling = random_sampling();
    change(sampling);
    const auto seen = TestSampler(5, sampling).frequencies(logits, 5000);
    std::set<int> ids;
    for (int i = 0; i < 5; ++i) {
      if (seen[static_cast<size_t>(i)] > 0) ids.insert(i);
    }
    return ids;
  };
  TEST_ASSERT_TRUE((kept([](auto&) {}) == std::set<int>{0, 1, 2, 3, 4}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.top_k = 2; }) == std::set<int>{1, 3}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.top_k = 99; }) == std::set<int>{0, 1, 2, 3, 4}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.top_p = 0.65f; }) == std::set<int>{1, 3}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.top_p = 0.71f; }) == std::set<int>{1, 3, 4}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.min_p = 0.3f; }) == std::set<int>{1, 3, 4}));
  TEST_ASSERT_TRUE((kept([](auto& s) { s.top_p = 1e-6f; }) == std::set<int>{1}));
  TEST_ASSERT_TRUE((kept([](auto& s) {
                      s.top_k = 4;
                      s.top_p = 0.7f;
                    }) == std::set<int>{1, 3}));
}

TEST("a seed repeats its draws and another does not") {
  const std::vector<float> logits(50, 0.0f);
  const auto draws = [&](uint64_t seed) {
    TestSampler sampler(50, random_sampling(seed));
    std::vector<int32_t> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(sampler.pick(logits));
    return ids;
  };
  TEST_ASSERT_TRUE(draws(1) == draws(1));
  TEST_ASSERT_FALSE(draws(1) == draws(2));
}

TEST("the repetition penalty divides positive and multiplies negative logits, once an id") {
  mote_sampling sampling = mote_sampling_default();
  sampling.repetition_penalty = 2;
  TestSampler sampler(3, sampling);
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({3, 2, -1}));
  sampler.see(0);
  sampler.see(0);
  TEST_ASSERT_EQUAL_INT(1, sampler.pick({3, 2, -1}));      // 1.5, 2
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({5, 2, -1}));      // 2.5, 2
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({-1, -3, -1.5}));  // -2, -3, -1.5
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({3, kNaN, 2}));    // 1.5, -, 2: ids after a NaN are found
  sampler.see(2);
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({3, kNaN, 4}));
}

TEST("the repetition window forgets") {
  mote_sampling sampling = mote_sampling_default();
  sampling.repetition_penalty = 2;
  sampling.repetition_window = 2;
  TestSampler sampler(3, sampling);
  sampler.see(0);
  sampler.see(1);
  TEST_ASSERT_EQUAL_INT(2, sampler.pick({3, 3, 2}));
  sampler.see(1);
  TEST_ASSERT_EQUAL_INT(0, sampler.pick({3, 3, 2}));
}

TEST("settings out of range are named") {
  const auto problem = [](auto change) {
    mote_sampling sampling = mote_sampling_default();
    change(sampling);
    return mote::sampling_problem(sampling) != nullptr;
  };
  TEST_ASSERT_FALSE(problem([](auto&) {}));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.temperature = -1; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.temperature = kNaN; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.top_p = 0; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.top_p = 1.5f; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.min_p = -0.1f; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.repetition_penalty = 0; }));
  TEST_ASSERT_TRUE(problem([](auto& s) { s.repetition_window = 257; }));
}
