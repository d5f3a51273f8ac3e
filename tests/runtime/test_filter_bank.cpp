// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "mote/sound.h"
#include "tests/support/unity_style.h"

namespace {

constexpr uint32_t kMels = 128, kSamples = 4000, kFrames = 23;  // whole ones

mote_filter_bank ast_bank() { return {16000, 400, 160, 512, kMels, -4.2677393f, 9.1379948f, {}}; }

/// Noise, then silence.
std::vector<float> noise_and_silence() {
  std::vector<float> samples(kSamples);
  for (size_t i = 0; i < 3200; ++i)
    samples[i] = static_cast<float>(static_cast<int>((i * i * 7 + i * 13) % 257) - 128) / 256.0f;
  return samples;
}

std::vector<float> features_of(const mote_filter_bank& bank, const std::vector<float>& samples,
                               uint32_t frames) {
  std::vector<float> scratch(mote_filter_bank_bytes(&bank) / sizeof(float));
  mote_error error{};
  REQUIRE(mote_filter_bank_init(&bank, scratch.data(), &error) == MOTE_OK);
  std::vector<float> features(size_t{frames} * bank.mels);
  mote_filter_bank_frames(&bank, scratch.data(), samples.data(), samples.size(), 0, frames, features.data());
  return features;
}

}  // namespace

TEST("filter banks are those of AST's feature extractor", "[filter_bank]") {
  const std::vector<float> features = features_of(ast_bank(), noise_and_silence(), kFrames);
  // Of the extractor's formulas in NumPy, in double precision.
  const struct {
    uint32_t frame, mel;
    float value;
  } expected[] = {{0, 0, 0.01919f},   {0, 31, 0.44874f},   {5, 3, -1.27759f},  {12, 20, -0.03520f},
                  {16, 31, 0.44956f}, {18, 10, -0.20928f}, {19, 25, 0.14783f}, {21, 9, -1.27759f}};
  for (const auto& one : expected)
    TEST_ASSERT_FLOAT_WITHIN(1e-4, one.value, features[one.frame * kMels + one.mel]);
}

TEST("frames behind the sound are of logarithms that are 0", "[filter_bank]") {
  const mote_filter_bank bank = ast_bank();
  const std::vector<float> features = features_of(bank, noise_and_silence(), kFrames + 2);
  for (size_t i = size_t{kFrames} * kMels; i < features.size(); ++i)
    TEST_ASSERT_EQUAL_FLOAT((0.0f - bank.mean) / bank.deviation, features[i]);
}

TEST("frames made one by one equal frames made at once", "[filter_bank]") {
  const mote_filter_bank bank = ast_bank();
  const std::vector<float> samples = noise_and_silence(), all = features_of(bank, samples, kFrames);
  std::vector<float> scratch(mote_filter_bank_bytes(&bank) / sizeof(float)), one(kMels);
  mote_error error{};
  REQUIRE(mote_filter_bank_init(&bank, scratch.data(), &error) == MOTE_OK);
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    mote_filter_bank_frames(&bank, scratch.data(), samples.data(), kSamples, frame, 1, one.data());
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(all.data() + size_t{frame} * kMels, one.data(), kMels);
  }
}

TEST("filter banks of sizes that are none are refused", "[filter_bank]") {
  const auto status = [](auto change) {
    mote_filter_bank bank = ast_bank();
    change(bank);
    mote_error error{};
    std::vector<float> scratch(mote_filter_bank_bytes(&bank) / sizeof(float));
    return mote_filter_bank_init(&bank, scratch.data(), &error);
  };
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.fft = 500; }));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.window = 513; }));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.hop = 0; }));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.rate = 40; }));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.deviation = 0; }));
}
