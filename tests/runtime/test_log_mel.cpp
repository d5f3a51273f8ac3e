// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "mote/sound.h"
#include "tests/support/unity_style.h"

namespace {

constexpr uint32_t kFft = 400, kHop = 160, kMels = 80, kBins = kFft / 2 + 1;

std::vector<float> filters_of_whisper() {
  std::vector<float> filters(size_t{kMels} * kBins);
  mote_mel_filters(16000, kMels, kBins, filters.data());
  return filters;
}

/// Noise, then silence.
std::vector<float> some_sound() {
  std::vector<float> samples(4000);
  for (size_t i = 0; i < 3200; ++i)
    samples[i] = static_cast<float>(static_cast<int>((i * i * 7 + i * 13) % 257) - 128) / 256.0f;
  return samples;
}

}  // namespace

TEST("log-mel features are those of Whisper's feature extractor", "[log_mel]") {
  const std::vector<float> filters = filters_of_whisper(), samples = some_sound();
  const mote_log_mel spec{kFft, kHop, kMels, kBins, filters.data(), {}};
  std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
  std::vector<float> features(samples.size() / kHop * kMels);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, mote_log_mel_compute(&spec, samples.data(), 4000, scratch.data(), features.data(), &error));
  // Of the extractor's formulas in NumPy, in double precision.
  const struct {
    uint32_t frame, mel;
    float value;
  } expected[] = {{0, 0, 0.776992f},   {0, 79, 0.882481f},  {5, 3, 0.742604f},   {12, 40, 0.704941f},
                  {19, 79, 0.907907f}, {20, 10, 0.680296f}, {22, 5, -0.897638f}, {24, 60, -0.897638f}};
  for (const auto& one : expected)
    TEST_ASSERT_FLOAT_WITHIN(1e-5, one.value, features[one.frame * kMels + one.mel]);
}

TEST("a tone's power lies in the mel whose triangle has its frequency", "[log_mel]") {
  const std::vector<float> filters = filters_of_whisper();
  for (const uint32_t bin : {10u, 50u, 150u}) {
    std::vector<float> samples(1600);
    for (size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<float>(std::sin(6.283185307179586 * static_cast<double>(bin * i) / kFft));
    const mote_log_mel spec{kFft, kHop, kMels, kBins, filters.data(), {}};
    std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
    std::vector<float> features(10 * kMels);
    mote_error error{};
    REQUIRE(mote_log_mel_compute(&spec, samples.data(), 1600, scratch.data(), features.data(), &error) ==
            MOTE_OK);
    uint32_t loudest = 0, widest = 0;
    for (uint32_t mel = 1; mel < kMels; ++mel) {
      if (features[5 * kMels + mel] > features[5 * kMels + loudest]) loudest = mel;
      if (filters[mel * kBins + bin] > filters[widest * kBins + bin]) widest = mel;
    }
    TEST_ASSERT_EQUAL_UINT32(widest, loudest);
  }
}

TEST("log-mel features of too few samples or of impossible sizes are refused", "[log_mel]") {
  const std::vector<float> filters = filters_of_whisper();
  const float samples[400] = {};
  float features[80];
  std::vector<double> scratch(7 * 4096);
  const auto status = [&](uint32_t fft, uint32_t bins, uint32_t hop, uint32_t n) {
    const mote_log_mel spec{fft, hop, kMels, bins, filters.data(), {}};
    mote_error error{};
    return mote_log_mel_compute(&spec, samples, n, scratch.data(), features, &error);
  };
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status(400, 201, 160, 200));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status(400, 201, 160, 201));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status(400, 200, 160, 201));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status(401, 201, 160, 400));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status(8192, 4097, 160, 400));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, status(400, 201, 0, 400));
}
