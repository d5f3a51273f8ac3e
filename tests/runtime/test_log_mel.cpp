// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "mote/sound.h"
#include "tests/support/unity_style.h"

namespace {

constexpr uint32_t kFft = 400, kHop = 160, kLogMels = 80, kBins = kFft / 2 + 1;

std::vector<float> filters_of_whisper() {
  std::vector<float> filters(size_t{kLogMels} * kBins);
  mote_mel_filters(16000, kLogMels, kBins, filters.data());
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
  const mote_log_mel spec{kFft, kHop, kLogMels, kBins, filters.data(), 0, 0, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
  std::vector<float> features(samples.size() / kHop * kLogMels);
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
    TEST_ASSERT_FLOAT_WITHIN(1e-5, one.value, features[one.frame * kLogMels + one.mel]);
}

TEST("a tone's power lies in the mel whose triangle has its frequency", "[log_mel]") {
  const std::vector<float> filters = filters_of_whisper();
  for (const uint32_t bin : {10u, 50u, 150u}) {
    std::vector<float> samples(1600);
    for (size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<float>(std::sin(6.283185307179586 * static_cast<double>(bin * i) / kFft));
    const mote_log_mel spec{kFft, kHop, kLogMels, kBins, filters.data(), 0, 0, {}};
    std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
    std::vector<float> features(10 * kLogMels);
    mote_error error{};
    REQUIRE(mote_log_mel_compute(&spec, samples.data(), 1600, scratch.data(), features.data(), &error) ==
            MOTE_OK);
    uint32_t loudest = 0, widest = 0;
    for (uint32_t mel = 1; mel < kLogMels; ++mel) {
      if (features[5 * kLogMels + mel] > features[5 * kLogMels + loudest]) loudest = mel;
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
    const mote_log_mel spec{fft, hop, kLogMels, bins, filters.data(), 0, 0, {}};
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

TEST("log-mel features in parts are those of the whole sound behind which it is silent", "[log_mel]") {
  const std::vector<float> filters = filters_of_whisper();
  std::vector<float> samples = some_sound();
  samples.resize(8000);
  const mote_log_mel spec{kFft, kHop, kLogMels, kBins, filters.data(), 0, 0, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
  std::vector<float> whole(8000 / kHop * kLogMels), parts(whole.size());
  mote_error error{};
  REQUIRE(mote_log_mel_compute(&spec, samples.data(), 8000, scratch.data(), whole.data(), &error) == MOTE_OK);
  std::vector<float> padded(kFft / 2);
  for (size_t i = 0; i < padded.size(); ++i) padded[i] = samples[padded.size() - i];
  padded.insert(padded.end(), samples.begin(), samples.end());
  padded.resize(padded.size() + kFft);
  for (uint32_t frame = 0; frame < 50; frame += 10) {
    REQUIRE(mote_log_mel_frames(&spec, padded.data() + size_t{frame} * kHop, 10, scratch.data(),
                                parts.data() + size_t{frame} * kLogMels, &error) == MOTE_OK);
  }
  mote_log_mel_scale(parts.data(), parts.size(), mote_log_mel_largest(parts.data(), parts.size()));
  REQUIRE(parts == whole);
}

TEST("compressed frames are centred, of variance 1 and squeezed by asinh", "[log_mel]") {
  const float samples[] = {1.0f, 3.0f, 5.0f, 7.0f, 0.5f, 0.5f, 0.5f, 0.5f};
  float frames[8];
  mote_compress_frames(samples, 2, 4, 0.75f, frames);
  for (uint32_t i = 0; i < 4; ++i) {
    const double centred = (static_cast<double>(i) * 2 - 3) / std::sqrt(5.0 + 1e-6);
    TEST_ASSERT_FLOAT_WITHIN(1e-6, std::asinh(0.75 * centred), frames[i]);
    TEST_ASSERT_FLOAT_WITHIN(1e-6, 0.0, frames[4 + i]);
  }
}

TEST("natural logarithms and normalized features are those of NeMo's extractor", "[log_mel]") {
  constexpr uint32_t kNemoFft = 512, kNemoBins = kNemoFft / 2 + 1, kFrames = 25;
  std::vector<float> filters(size_t{kLogMels} * kNemoBins);
  mote_mel_filters(16000, kLogMels, kNemoBins, filters.data());
  const std::vector<float> samples = some_sound();
  std::vector<float> padded(samples.size() + 2 * kNemoFft);
  for (size_t i = 0; i < samples.size(); ++i)
    padded[kNemoFft / 2 + i] = samples[i] - (i == 0 ? 0.0f : 0.97f * samples[i - 1]);
  const mote_log_mel spec{kNemoFft, kHop, kLogMels, kNemoBins, filters.data(), 400, 1, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
  std::vector<float> features(size_t{kFrames} * kLogMels);
  mote_error error{};
  REQUIRE(mote_log_mel_frames(&spec, padded.data(), kFrames, scratch.data(), features.data(), &error) ==
          MOTE_OK);
  const std::vector<float> logarithms = features;
  mote_normalize_features(features.data(), kFrames, kLogMels);
  // Of the extractor's formulas in NumPy, in double precision.
  const struct {
    uint32_t frame, mel;
    float logarithm, normalized;
  } expected[] = {{0, 0, -8.817031f, 0.020440f},    {0, 79, -0.065453f, 0.302031f},
                  {5, 3, -7.649136f, 0.468651f},    {12, 40, -3.302288f, 0.400227f},
                  {19, 79, 0.755895f, 0.443072f},   {20, 10, -6.293285f, 0.097995f},
                  {22, 5, -16.635532f, -2.449431f}, {24, 60, -16.635532f, -2.547737f}};
  for (const auto& one : expected) {
    CAPTURE(one.frame, one.mel);
    TEST_ASSERT_FLOAT_WITHIN(1e-5, one.logarithm, logarithms[one.frame * kLogMels + one.mel]);
    TEST_ASSERT_FLOAT_WITHIN(1e-5, one.normalized, features[one.frame * kLogMels + one.mel]);
  }
}

TEST("filters between two frequencies are those of transformers on Slaney's scale", "[log_mel]") {
  constexpr uint32_t kMels = 64, kWide = 513;
  std::vector<float> filters(size_t{kMels} * kWide);
  mote_mel_filters_between(48000, 50.0f, 14000.0f, kMels, kWide, filters.data());
  const struct {
    uint32_t mel, bin;
    float value;
  } expected[] = {
      {0, 1, 0.0f},           {0, 2, 0.01501181f},     {0, 3, 0.005951485f},   {5, 8, 0.01814952f},
      {20, 25, 0.006528345f}, {20, 26, 0.01266662f},   {40, 79, 0.004341618f}, {40, 83, 0.0f},
      {63, 283, 0.00131327f}, {63, 298, 5.588384e-05f}};
  for (const auto& one : expected)
    TEST_ASSERT_FLOAT_WITHIN(1e-7, one.value, filters[one.mel * kWide + one.bin]);
  std::vector<float> whole(filters.size());
  mote_mel_filters_between(48000, 0.0f, 24000.0f, kMels, kWide, filters.data());
  mote_mel_filters(48000, kMels, kWide, whole.data());
  TEST_ASSERT_TRUE(filters == whole);
}

TEST("frames are resized as torch resizes bicubically with aligned corners", "[log_mel]") {
  const std::vector<float> rows = {0, 1, -2, 5, 3, 7, 7, -1};  // [4, 2]
  const std::vector<float> expected[] = {
      {0, 1},
      {0, 1, -0.0625f, 7.125f, 7, -1},
      rows,
      {0, 1, -1.764f, 3.232f, -1.408f, 5.928f, 1.688f, 7.512f, 5.092f, 4.112f, 7, -1},
      {0, 1, -1.050293f, 2.30957f, -2.074219f, 3.882812f, -1.662109f, 5.578125f, -0.0625f, 7.125f, 2.169922f,
       7.40625f, 4.433594f, 5.398438f, 5.888184f, 2.014648f, 7, -1}};
  for (const std::vector<float>& values : expected) {
    std::vector<float> resized(values.size());
    mote_resize_frames(rows.data(), 4, 2, static_cast<uint32_t>(values.size() / 2), resized.data());
    CAPTURE(values.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(1e-5, values.data(), resized.data(), values.size());
  }
  std::vector<float> one(6);  // a single frame stays what it is
  mote_resize_frames(rows.data(), 1, 2, 3, one.data());
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(1e-6, std::vector<float>({0, 1, 0, 1, 0, 1}).data(), one.data(), 6);
}
