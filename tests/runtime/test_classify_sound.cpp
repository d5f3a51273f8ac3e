// SPDX-License-Identifier: Apache-2.0
//
// Sound of any rate to probabilities in one call; sound at another rate.
#include <cmath>

#include "mote/sound.h"
#include "tests/support/encode.h"
#include "tests/support/test_model.h"

using test::options_for;
using test::output_of;
using test::same_bits;

namespace {

/// The bundled spotter of words, whose file says how features are made.
const test::AlignedBytes& spotter() {
  static const test::AlignedBytes kFile = [] {
    mote::convert::ConvertOptions options;
    options.type = "f32";
    return test::kept_conversion("keywords", std::filesystem::path(MOTE_SOURCE_DIR) / "models/keywords",
                                 options);
  }();
  return kFile;
}

std::vector<float> tone(uint32_t rate, uint32_t count) {
  std::vector<float> samples(count);
  for (uint32_t i = 0; i < count; ++i)
    samples[i] = 0.5f * static_cast<float>(std::sin(2765.0 * i / rate) + 0.3 * std::sin(i * i * 0.001));
  return samples;
}

/// Samples at another rate, in parts of so many.
std::vector<float> resampled(const std::vector<float>& samples, uint32_t from, uint32_t to, uint32_t part) {
  mote_resampling spec;
  REQUIRE(mote_resampling_of(from, to, &spec, nullptr) == MOTE_OK);
  std::vector<float> weights(mote_resample_bytes(&spec) / sizeof(float));
  mote_resample_init(&spec, weights.data());
  std::vector<float> out(mote_resample_count(&spec, samples.size()));
  for (uint64_t first = 0; first < out.size(); first += part) {
    // A window on the old samples that has what the part needs.
    const uint64_t at = first * spec.down / spec.up;
    const uint64_t begin = at > spec.reach ? at - spec.reach : 0;
    const uint64_t end =
        std::min<uint64_t>(samples.size(), (first + part) * spec.down / spec.up + spec.reach + 1);
    mote_resample(&spec, weights.data(), samples.data() + begin, begin, end - begin, first,
                  static_cast<uint32_t>(std::min<uint64_t>(part, out.size() - first)), out.data() + first);
  }
  return out;
}

/// Probabilities as a caller computes them of the steps, of samples at the model's rate.
std::vector<float> by_steps(const test::OpenModel& model, mote_session* session,
                            const std::vector<float>& samples) {
  mote_sound_info sound;
  mote_model_get_sound(model.get(), &sound);
  mote_filter_bank bank;
  REQUIRE(mote_sound_filter_bank(&sound, &bank, nullptr) == MOTE_OK);
  std::vector<float> scratch(mote_filter_bank_bytes(&bank) / sizeof(float));
  REQUIRE(mote_filter_bank_init(&bank, scratch.data(), nullptr) == MOTE_OK);
  std::vector<float> spectrum(size_t{sound.frames} * sound.bins);
  mote_filter_bank_frames(&bank, scratch.data(), samples.data(), samples.size(), 0, sound.frames,
                          spectrum.data());
  const uint32_t rows = mote_sound_square_rows(&sound);
  std::vector<float> squares(size_t{rows} * sound.patch * sound.patch);
  mote_sound_squares(&sound, spectrum.data(), squares.data());
  mote_batch batch{};
  batch.lengths = &rows;
  batch.count = 1;
  batch.values = squares.data();
  REQUIRE(mote_encode(session, &batch, nullptr) == MOTE_OK);
  std::vector<float> out(output_of(model).width);
  REQUIRE(mote_probabilities(session, 0, out.data(), output_of(model).width, nullptr) == MOTE_OK);
  return out;
}

struct Called {
  mote_status status;
  std::vector<float> out;
  std::string text;
};

Called classified(const test::OpenModel& model, mote_session* session, const std::vector<float>& samples,
                  uint32_t rate, size_t less = 0) {
  std::vector<float> memory(mote_classify_sound_bytes(model.get(), rate) / sizeof(float) + 1);
  std::vector<float> out(output_of(model).width);
  mote_error error{};
  const size_t bytes = mote_classify_sound_bytes(model.get(), rate) - less;
  const mote_status status = mote_classify_sound(session, samples.data(), samples.size(), rate, memory.data(),
                                                 bytes, out.data(), output_of(model).width, &error);
  return {status, out, error.text};
}

}  // namespace

TEST("one call labels sound of any rate with the bits of its steps", "[sound]") {
  const test::OpenModel model(spotter());
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  mote_sound_info sound;
  mote_model_get_sound(model.get(), &sound);
  for (const uint32_t rate : {sound.rate, 8000u, 22050u, 44100u, 48000u}) {
    for (const uint32_t tenths : {0u, 1u, 40u}) {
      CAPTURE(rate, tenths);
      const std::vector<float> samples = tone(rate, rate * tenths / 10);
      const Called called = classified(model, session.get(), samples, rate);
      REQUIRE(called.status == MOTE_OK);
      REQUIRE(
          same_bits(called.out, by_steps(model, session.get(), resampled(samples, rate, sound.rate, 777))));
    }
  }
}

TEST("labels of sound are refused to other models, rates and rooms by sentences", "[sound]") {
  const test::OpenModel model(spotter());
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  const std::vector<float> samples = tone(8000, 4000);
  const Called small = classified(model, session.get(), samples, 8000, sizeof(float));
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, small.status);
  REQUIRE(small.text.find("mote_classify_sound takes") != std::string::npos);
  TEST_ASSERT_EQUAL_UINT32(0, mote_classify_sound_bytes(model.get(), 0));
  TEST_ASSERT_EQUAL_UINT32(0, mote_classify_sound_bytes(model.get(), 768001));
  float memory[4], out[4];
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_classify_sound(session.get(), samples.data(), samples.size(), 0, memory,
                                            sizeof memory, out, output_of(model).width, &error));
  REQUIRE(std::string(error.text).find("cannot be resampled") != std::string::npos);
  const test::OpenModel texts(test::golden_file("bert_classifier", "f32"));
  const test::OpenSession reader(texts, options_for(texts, 1));
  TEST_ASSERT_EQUAL_UINT32(0, mote_classify_sound_bytes(texts.get(), 16000));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        mote_classify_sound(reader.get(), samples.data(), samples.size(), 16000, memory,
                                            sizeof memory, out, output_of(texts).width, &error));
  REQUIRE(std::string(error.text).find("label_sounds") != std::string::npos);
  const test::OpenModel unsaid(test::golden_file("ast_classifier", "f32"));
  TEST_ASSERT_EQUAL_UINT32(0, mote_classify_sound_bytes(unsaid.get(), 16000));
}

TEST("sound at another rate keeps tones below half of it, has its length, and is the same in any parts",
     "[sound]") {
  for (const uint32_t from : {8000u, 44100u, 48000u}) {
    CAPTURE(from);
    std::vector<float> samples(from);
    for (uint32_t i = 0; i < from; ++i)
      samples[i] = static_cast<float>(std::sin(2.0 * M_PI * 440.0 * i / from));
    const std::vector<float> whole = resampled(samples, from, 16000, UINT32_MAX);
    TEST_ASSERT_EQUAL_UINT32(16000, whole.size());
    REQUIRE(same_bits(whole, resampled(samples, from, 16000, 1)));
    REQUIRE(same_bits(whole, resampled(samples, from, 16000, 999)));
    for (size_t i = 1000; i < 15000; ++i)
      TEST_ASSERT_FLOAT_WITHIN(1e-3, std::sin(2.0 * M_PI * 440.0 * static_cast<double>(i) / 16000), whole[i]);
  }
  mote_resampling spec;
  REQUIRE(mote_resampling_of(16000, 16000, &spec, nullptr) == MOTE_OK);
  TEST_ASSERT_EQUAL_UINT32(0, mote_resample_bytes(&spec));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_resampling_of(16001, 767993, &spec, nullptr));
}
