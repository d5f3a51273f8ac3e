// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "mote/sound.h"
#include "tests/support/filter_bank_sound.h"
#include "tests/support/unity_style.h"

namespace {

constexpr uint32_t kMels = 128, kSamples = 4000, kFrames = 23;  // whole ones

mote_filter_bank ast_bank() { return {16000, 400, 160, 512, kMels, -4.2677393f, 9.1379948f, 0, 0.0f, {}}; }

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

TEST("filter banks in Povey's window, normalized by columns, are those of Speech2Text's feature extractor",
     "[filter_bank]") {
  mote_filter_bank bank = ast_bank();
  bank.mels = 80;
  bank.mean = 0.0f;
  bank.deviation = 1.0f;
  bank.povey = 1;
  bank.gain = 32768.0f;
  std::vector<float> features = features_of(bank, noise_and_silence(), kFrames);
  const std::vector<float> logarithms = features;
  TEST_ASSERT_EQUAL_UINT32(80, mote_normalize_columns(features.data(), kFrames, 80, 1, 1));
  // Of the extractor itself, without and with its normalization (transformers 5, torchaudio). Both spectra
  // are in single precision: its logarithms are up to 7e-5 from those in double precision, and a column's
  // deviation is 15.
  const struct {
    uint32_t frame, mel;
    float logarithm, normalized;
  } expected[] = {{0, 0, 16.70383f, 0.40711f},   {0, 79, 27.25159f, 0.40249f},  {5, 3, 17.03574f, 0.41315f},
                  {12, 40, 22.24104f, 0.35773f}, {16, 31, 22.61052f, 0.37854f}, {18, 10, 19.77436f, 0.38198f},
                  {19, 65, 21.16545f, 0.10012f}, {21, 9, -15.94238f, -2.58096f}};
  for (const auto& one : expected) {
    CAPTURE(one.frame, one.mel);
    TEST_ASSERT_FLOAT_WITHIN(2e-4, one.logarithm, logarithms[one.frame * 80 + one.mel]);
    TEST_ASSERT_FLOAT_WITHIN(2e-5, one.normalized, features[one.frame * 80 + one.mel]);
  }
}

TEST("columns are normalized by their mean, their deviation, both or neither", "[filter_bank]") {
  // Of NumPy: x - x.mean(0), x / x.std(0).
  const std::vector<float> given = {1.0f, 5.0f, 2.0f, 5.0f, 6.0f, 5.0f};
  const struct {
    int mean, deviation;
    std::vector<float> first;
    float second;
  } cases[] = {{0, 0, {1.0f, 2.0f, 6.0f}, 5.0f},
               {1, 0, {-2.0f, -1.0f, 3.0f}, 0.0f},
               {0, 1, {0.46291005f, 0.9258201f, 2.7774603f}, 0.0f},
               {1, 1, {-0.9258201f, -0.46291005f, 1.3887301f}, 0.0f}};
  for (const auto& one : cases) {
    std::vector<float> features = given;
    CAPTURE(one.mean, one.deviation);
    TEST_ASSERT_EQUAL_UINT32(1, mote_normalize_columns(features.data(), 3, 2, one.mean, one.deviation));
    for (size_t frame = 0; frame < 3; ++frame) {
      TEST_ASSERT_FLOAT_WITHIN(1e-6, one.first[frame], features[frame * 2]);
      TEST_ASSERT_EQUAL_FLOAT(one.second, features[frame * 2 + 1]);
    }
  }
}

TEST("the filter banks of a model are those of its kind of features, and of no other", "[filter_bank]") {
  mote_sound_info sound = test::filter_bank_sound(MOTE_FEATURES_FILTER_BANK, 80);
  mote_filter_bank bank;
  mote_error error{};
  REQUIRE(mote_sound_filter_bank(&sound, &bank, &error) == MOTE_OK);
  TEST_ASSERT_TRUE(bank.povey == 0 && bank.gain == 0.0f && bank.mean == 1.0f && bank.deviation == 1.0f);
  sound.features = MOTE_FEATURES_NORMALIZED_FILTER_BANK;
  REQUIRE(mote_sound_filter_bank(&sound, &bank, &error) == MOTE_OK);
  TEST_ASSERT_TRUE(bank.povey == 1 && bank.gain == 32768.0f && bank.mean == 0.0f && bank.deviation == 1.0f);
  TEST_ASSERT_TRUE(bank.rate == 16000 && bank.window == 400 && bank.hop == 160 && bank.fft == 512);
  sound.features = MOTE_FEATURES_LOG_MEL;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sound_filter_bank(&sound, &bank, &error));
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
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status([](mote_filter_bank& bank) { bank.gain = -1.0f; }));
}
