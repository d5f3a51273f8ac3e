// SPDX-License-Identifier: Apache-2.0
//
// Text to speech through the public interface: pieces, seeds, speed, room and wrong calls.
#include "mote/voice.h"
#include "runtime/file/voice.h"
#include "tests/support/test_model.h"

namespace {

const std::vector<int32_t> kIds = {18, 15, 24, 10, 16, 14, 22, 11, 1, 2, 3};

/// A session of the golden voice with room for so many frames, and an utterance's memory.
class Voice {
 public:
  explicit Voice(uint32_t frames = 1024)
      : model_(test::golden_file("vits", "f32")),
        session_(model_, options_of(model_, frames)),
        memory_(mote_speak_bytes(session_.get())) {
    mote_model_get_voice(model_.get(), &info);
    options = mote_speak_options_default(model_.get());
  }

  mote_status begin(mote_error* error = nullptr) {
    return mote_speak_begin(session_.get(), kIds.data(), static_cast<uint32_t>(kIds.size()), &options,
                            memory_.data(), memory_.size(), &utterance, error);
  }
  std::vector<float> say() {
    REQUIRE(begin() == MOTE_OK);
    std::vector<float> samples, piece(size_t{info.piece} * info.hop);
    pieces = 0;
    for (size_t count = 1; count != 0; ++pieces) {
      REQUIRE(mote_speak_next(session(), utterance, piece.data(), piece.size(), &count, nullptr) == MOTE_OK);
      samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
    }
    --pieces;
    return samples;
  }
  mote_status start() {
    return mote_speak_start(session_.get(), kIds.data(), static_cast<uint32_t>(kIds.size()), &options,
                            memory_.data(), memory_.size(), &utterance, nullptr);
  }
  mote_status step(uint32_t max_ops, std::vector<float>& piece, int* done, mote_error* error = nullptr) {
    size_t count = 0;
    piece.resize(size_t{info.piece} * info.hop);
    const mote_status status =
        mote_speak_step(session(), utterance, max_ops, piece.data(), piece.size(), &count, done, error);
    piece.resize(count);
    return status;
  }
  uint32_t frames() const { return mote_utterance_frames(utterance); }
  mote_session* session() const { return session_.get(); }

  mote_voice_info info;
  mote_speak_options options;
  mote_utterance* utterance = nullptr;
  uint32_t pieces = 0;

 private:
  static mote_session_options options_of(const test::OpenModel& model, uint32_t frames) {
    mote_session_options options = mote_session_options_default(model.get());
    options.context = 16;
    options.chunk = options.logit_rows = frames;
    return options;
  }

  const test::OpenModel model_;
  const test::OpenSession session_;
  const test::AlignedBytes memory_;
};

}  // namespace

TEST("an utterance of several pieces is that of frames whose neighbours are computed with them", "[speak]") {
  Voice voice;
  voice.options.speed = 0.03f;
  const std::vector<float> samples = voice.say();
  TEST_ASSERT_GREATER_THAN(2u, voice.pieces);
  TEST_ASSERT_EQUAL_UINT32(voice.frames() * voice.info.hop, samples.size());
  // Frames around the border of the first two pieces, in one run.
  const uint32_t reach = 2, half = 20;  // of what is compared beside the border
  const uint32_t first = voice.info.piece - half, count = 2 * half;
  const std::vector<mote_row> rows(count, {0, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = count;
  call.program = mote::kSampleProgram;
  call.values = mote_utterance_latents(voice.utterance) + first * voice.info.latents;
  REQUIRE(mote_compute(voice.session(), &call, nullptr) == MOTE_OK);
  for (uint32_t i = half - reach; i < half + reach; ++i) {
    const float* const found = mote_session_output(voice.session(), i);
    const float* const expected = &samples[size_t{first + i} * voice.info.hop];
    TEST_ASSERT_EQUAL_INT(0, std::memcmp(expected, found, voice.info.hop * sizeof(float)));
  }
}

TEST("an utterance in steps of any size has the same samples, in ever fewer steps", "[speak]") {
  Voice voice;
  voice.options.speed = 0.03f;
  const std::vector<float> expected = voice.say();
  uint32_t before = UINT32_MAX, steps = 0;
  for (const uint32_t max_ops : {1u, 5u, 10000u, 0u}) {
    REQUIRE(voice.start() == MOTE_OK);
    std::vector<float> samples, piece;
    steps = 0;
    for (int done = 0; done == 0; ++steps) {
      REQUIRE(voice.step(max_ops, piece, &done) == MOTE_OK);
      samples.insert(samples.end(), piece.begin(), piece.end());
    }
    CAPTURE(max_ops, steps);
    TEST_ASSERT_TRUE(samples == expected);
    TEST_ASSERT_LESS_THAN(before, steps);
    before = steps;
  }
  TEST_ASSERT_EQUAL_UINT32(voice.pieces, steps);
}

TEST("a call that computes between two steps of an utterance ends its computation", "[speak]") {
  Voice voice;
  const std::vector<float> expected = voice.say();
  std::vector<float> piece;
  uint32_t ended = 0;
  const auto count = static_cast<uint32_t>(kIds.size()) - 1;
  mote_batch batch{};
  batch.ids = kIds.data();
  batch.lengths = &count;
  batch.count = 1;
  for (uint32_t before = 1; before < 40; before += 3) {
    REQUIRE(voice.start() == MOTE_OK);
    int done = 0;
    for (uint32_t i = 0; i < before; ++i) REQUIRE(voice.step(4, piece, &done) == MOTE_OK);
    REQUIRE(done == 0);
    REQUIRE(mote_encode(voice.session(), &batch, nullptr) == MOTE_OK);
    mote_error error{};
    mote_status status = MOTE_OK;
    std::vector<float> samples;
    while (status == MOTE_OK && done == 0) {
      status = voice.step(4, piece, &done, &error);
      samples.insert(samples.end(), piece.begin(), piece.end());
    }
    CAPTURE(before);
    if (status == MOTE_OK) {  // nothing is lost between the end of one program and the begin of the next
      TEST_ASSERT_TRUE(samples == expected);
      continue;
    }
    ++ended;
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, status);
    TEST_ASSERT_EQUAL_STRING("another call has ended this utterance's computation", error.text);
  }
  TEST_ASSERT_GREATER_THAN(5u, ended);
}

TEST("a seed says the same again, and another says it otherwise", "[speak]") {
  Voice voice;
  const std::vector<float> first = voice.say();
  TEST_ASSERT_TRUE(first == voice.say());
  voice.options.seed = 1;
  TEST_ASSERT_FALSE(first == voice.say());
  voice.options.noise = voice.options.duration_noise = 0.0f;
  const std::vector<float> silent = voice.say();
  voice.options.seed = 2;
  TEST_ASSERT_TRUE(silent == voice.say());
}

TEST("a slower voice takes more frames", "[speak]") {
  Voice voice;
  REQUIRE(voice.begin() == MOTE_OK);
  const uint32_t frames = voice.frames();
  voice.options.speed = 0.25f;
  REQUIRE(voice.begin() == MOTE_OK);
  TEST_ASSERT_GREATER_THAN(frames, voice.frames());
}

TEST("an utterance without room, or that is none, is refused", "[speak]") {
  mote_error error{};
  Voice tight(16);
  tight.options.speed = 0.1f;
  TEST_ASSERT_EQUAL_INT(MOTE_CONTEXT_FULL, tight.begin(&error));
  TEST_ASSERT_EQUAL_STRING(
      "the 11 tokens take more than 16 frames, all that the session's chunk has room for", error.text);
  Voice voice;
  voice.options.speed = 0.0f;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, voice.begin());
  voice.options.speed = 1.0f;
  voice.options.noise = -1.0f;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, voice.begin());
  voice.options.noise = 0.0f;
  const float noise = 0.0f;
  voice.options.frame_noise = &noise;
  voice.options.noise_frames = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, voice.begin());
  voice.options.frame_noise = nullptr;
  uint64_t memory[4];
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_speak_begin(voice.session(), kIds.data(), 3, &voice.options,
                                                         memory, sizeof memory, &voice.utterance, nullptr));
  REQUIRE(voice.begin() == MOTE_OK);
  float sample;
  size_t count = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL,
                        mote_speak_next(voice.session(), voice.utterance, &sample, 1, &count, nullptr));
}

TEST("a model that does not speak has no voice", "[speak]") {
  const test::OpenModel model(test::golden_file("bert", "f32"));
  mote_voice_info info;
  mote_model_get_voice(model.get(), &info);
  TEST_ASSERT_EQUAL_UINT32(0, info.rate);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = options.context = options.logit_rows = 16;
  const test::OpenSession session(model, options);
  TEST_ASSERT_EQUAL_UINT32(0, mote_speak_bytes(session.get()));
  const mote_speak_options speaking = mote_speak_options_default(model.get());
  uint64_t memory[4];
  mote_utterance* utterance = nullptr;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_speak_begin(session.get(), kIds.data(), 3, &speaking, memory,
                                                           sizeof memory, &utterance, &error));
  TEST_ASSERT_EQUAL_STRING("this model does not speak", error.text);
}
