// SPDX-License-Identifier: Apache-2.0
//
// The no-heap promise: between opening a model and restoring a session nothing allocates.
#include "mote/sound.h"
#include "tests/support/count_allocations.h"
#include "tests/support/test_model.h"

using test::calls;
using test::counting;

#ifndef MOTE_SANITIZED
namespace {

/// Opens a model and a session on it; change(options) sets what is not the default.
template <class Change>
mote_status open(const test::AlignedBytes& file, test::AlignedBytes& storage, test::AlignedBytes& arena,
                 Change change, mote_model** model, mote_session** session, mote_error* error) {
  const mote_status status = mote_model_open(file.data(), file.size(), MOTE_OPEN_CHECK_HASHES, storage.data(),
                                             storage.size(), model, error);
  if (status != MOTE_OK) return status;
  mote_session_options options = mote_session_options_default(*model);
  change(options);
  const size_t bytes = mote_session_bytes(*model, &options);
  return mote_session_init(*model, &options, arena.data(), bytes, session, error);
}

void count_allocations() {
  calls = 0;
  counting = true;
}

/// Ends the count: all calls succeeded, and none allocated.
void expect_none(mote_status status, const mote_error& error) {
  const uint32_t found = calls;
  counting = false;
  INFO(error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
  TEST_ASSERT_EQUAL_UINT32(0, found);
}

}  // namespace
#endif

TEST("nothing allocates between opening a model and restoring a session") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  for (const char* type : {"f32", "q4g32"}) {
    const test::AlignedBytes& file = test::text_file(type);
    const auto prompt = test::some_ids(40, 100);
    test::AlignedBytes storage(mote_model_bytes()), arena(size_t{4} << 20), state(size_t{1} << 20);
    mote_posix_pool* pool = mote_posix_pool_create(2);
    mote_platform platform = mote_posix_pool_platform(pool);

    counting = true;
    calls = 0;
    void* check = malloc(1);
    const uint32_t seen = calls.exchange(0);
    mote_error error{};
    mote_model* model = nullptr;
    mote_session* session = nullptr;
    const auto change = [&](mote_session_options& options) {
      options.platform = platform;
      options.text_bytes = 4096;
    };
    mote_status status = open(file, storage, arena, change, &model, &session, &error);
    if (status == MOTE_OK) status = mote_prefill(session, 0, prompt.data(), 40, MOTE_LOGITS_LAST, &error);
    const int32_t id = 3;
    if (status == MOTE_OK) status = mote_decode(session, &id, &error);
    mote_generation generation = mote_generation_default();
    generation.max_tokens = 5;
    generation.sampling.temperature = 1;
    generation.sampling.top_k = 10;
    generation.sampling.top_p = 0.9f;
    generation.sampling.repetition_penalty = 1.1f;
    if (status == MOTE_OK) {
      status = mote_generate(session, &id, 1, &generation, nullptr, nullptr, nullptr, &error);
    }
    const char text[] = "the tokenizer says hello <mask> stop 123";
    int32_t ids[64];
    mote_span spans[64];
    uint32_t tokens = 0;
    if (status == MOTE_OK) {
      status = mote_tokenize(session, text, sizeof text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL, ids, 64,
                             &tokens, spans, &error);
    }
    mote_detokenizer detokenizer;
    if (status == MOTE_OK) status = mote_detokenizer_start(model, 0, &detokenizer, &error);
    char out[256];
    size_t written = 0;
    for (uint32_t i = 0; i < tokens && status == MOTE_OK; ++i) {
      status = mote_detokenizer_next(model, &detokenizer, ids[i], out, sizeof out, &written, &error);
    }
    if (status == MOTE_OK) {
      status = mote_detokenizer_finish(model, &detokenizer, out, sizeof out, &written, &error);
    }
    const mote_message message = {MOTE_ROLE_USER, text, sizeof text - 1, 0};
    int32_t chat_ids[256];
    if (status == MOTE_OK) {
      status = mote_chat_tokenize(session, &message, 1, 1, out, sizeof out, chat_ids, 256, &tokens, &error);
    }
    if (status == MOTE_OK) status = mote_session_save(session, state.data(), state.size(), nullptr, &error);
    if (status == MOTE_OK) status = mote_session_restore(session, state.data(), state.size(), &error);
    mote_self_test self_test;
    if (status == MOTE_OK) status = mote_session_self_test(session, &self_test, &error);
    const uint32_t found = calls;
    counting = false;

    free(check);
    mote_posix_pool_destroy(pool);
    INFO(error.text);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
    TEST_ASSERT_EQUAL_UINT32(1, seen);
    TEST_ASSERT_EQUAL_UINT32(0, found);
  }
#endif
}

TEST("nothing allocates while a T5 encodes a source and searches with beams") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::AlignedBytes& file = test::golden_file("t5", "q8g32");
  const auto ids = test::some_ids(20, 100);
  test::AlignedBytes storage(mote_model_bytes()), arena(size_t{8} << 20), memory(size_t{1} << 16);
  count_allocations();
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  const auto change = [](mote_session_options& options) {
    options.batch = options.logit_rows = 4;
    options.context = 32;
  };
  mote_status status = open(file, storage, arena, change, &model, &session, &error);
  const uint32_t length = 20;
  mote_batch batch{};
  batch.ids = ids.data();
  batch.lengths = &length;
  batch.count = 1;
  if (status == MOTE_OK) status = mote_encode(session, &batch, &error);
  if (status == MOTE_OK) status = mote_prefill(session, 0, ids.data(), 1, MOTE_LOGITS_LAST, &error);
  mote_beam_options options = mote_beam_options_default();
  options.beams = 4;
  options.max_tokens = 12;
  mote_beam beams[4];
  if (status == MOTE_OK)
    status = mote_beam_search(session, &options, memory.data(), memory.size(), beams, &error);
  expect_none(status, error);
#endif
}

TEST("nothing allocates while a Whisper hears, writes and tests itself") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::AlignedBytes& file = test::golden_file("whisper", "q8g32");
  constexpr uint32_t kFrames = 48, kMels = 16, kFft = 400, kHop = 160, kBins = kFft / 2 + 1;
  std::vector<float> samples(size_t{kFrames} * kHop), features(size_t{kFrames} * kMels),
      filters(size_t{kMels} * kBins);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i * i % 101) / 101.0f - 0.5f;
  const mote_log_mel mel{kFft, kHop, kMels, kBins, filters.data(), 0, 0, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&mel) / sizeof(double));
  test::AlignedBytes storage(mote_model_bytes()), arena(size_t{8} << 20);
  count_allocations();
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  mote_mel_filters(16000, kMels, kBins, filters.data());
  mote_status status =
      mote_log_mel_compute(&mel, samples.data(), kFrames * kHop, scratch.data(), features.data(), &error);
  const auto unchanged = [](mote_session_options&) {};
  if (status == MOTE_OK) status = open(file, storage, arena, unchanged, &model, &session, &error);
  mote_batch batch{};
  batch.values = features.data();
  batch.lengths = &kFrames;
  batch.count = 1;
  if (status == MOTE_OK) status = mote_encode(session, &batch, &error);
  const int32_t start = 3;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 8;
  if (status == MOTE_OK)
    status = mote_generate(session, &start, 1, &generation, nullptr, nullptr, nullptr, &error);
  mote_self_test self_test;
  if (status == MOTE_OK) status = mote_session_self_test(session, &self_test, &error);
  expect_none(status, error);
#endif
}

TEST("nothing allocates while an encoder opens, encodes, embeds and labels") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  for (const char* name : {"mpnet_sentence", "bert_classifier"}) {
    const test::AlignedBytes& file = test::text_file("q8g32", name);
    const auto ids = test::some_ids(20, 100);
    test::AlignedBytes storage(mote_model_bytes()), arena(size_t{4} << 20);
    count_allocations();
    mote_error error{};
    mote_model* model = nullptr;
    mote_session* session = nullptr;
    const auto change = [&](mote_session_options& options) {
      options.batch = 2;
      options.text_bytes = 4096;
    };
    mote_status status = open(file, storage, arena, change, &model, &session, &error);
    const uint32_t lengths[] = {12, 8};
    const mote_batch batch{ids.data(), nullptr, lengths, 2, nullptr, 0, nullptr, {}};
    if (status == MOTE_OK) status = mote_encode(session, &batch, &error);
    mote_output_info output;
    mote_model_get_output(model, &output);
    float row[64];
    if (status == MOTE_OK) {
      status = output.kind == MOTE_OUTPUT_EMBEDDING
                   ? mote_embed(session, "hello there", 11, MOTE_TRUNCATE, row, output.width, &error)
                   : mote_classify(session, "hello there", 11, MOTE_TRUNCATE, row, output.width, &error);
    }
    mote_self_test self_test;
    if (status == MOTE_OK) status = mote_session_self_test(session, &self_test, &error);
    expect_none(status, error);
  }
#endif
}

TEST("nothing allocates while a ViT and a Swin label a picture") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  for (const char* name : {"vit_classifier", "swin_classifier"}) {
    const test::AlignedBytes& file = test::golden_file(name, "q8g32");
    test::AlignedBytes storage(mote_model_bytes()), arena(size_t{4} << 20);
    const std::vector<float> pixels(size_t{3} * 64 * 64, 0.25f);
    std::vector<float> rows(size_t{1} << 16);
    count_allocations();
    mote_error error{};
    mote_model* model = nullptr;
    mote_session* session = nullptr;
    mote_status status = open(file, storage, arena, [](mote_session_options&) {}, &model, &session, &error);
    mote_picture_info picture{};
    if (status == MOTE_OK) status = mote_model_get_picture(model, &picture, &error);
    if (status == MOTE_OK) mote_picture_rows(&picture, pixels.data(), rows.data());
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &picture.rows;
    batch.count = 1;
    if (status == MOTE_OK) status = mote_encode(session, &batch, &error);
    float row[64];
    mote_output_info output;
    mote_model_get_output(model, &output);
    if (status == MOTE_OK) status = mote_probabilities(session, 0, row, output.width, &error);
    expect_none(status, error);
  }
#endif
}

TEST("nothing allocates while a prompt with a picture is read and continued") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::AlignedBytes& file = test::golden_file("qwen3_vl", "q8g32");
  test::AlignedBytes storage(mote_model_bytes()), arena(size_t{8} << 20);
  const std::vector<float> features(size_t{4} * 256, 0.5f);
  std::vector<float> values(size_t{6} * 512);
  count_allocations();
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  mote_status status = open(file, storage, arena, [](mote_session_options&) {}, &model, &session, &error);
  mote_sight_info sight{};
  if (status == MOTE_OK) status = mote_model_get_sight(model, &sight, &error);
  const int32_t image = sight.image_id, ids[] = {5, image, image, image, image, 6};
  const mote_seen seen = {features.data(), 2, 2};
  if (status == MOTE_OK) status = mote_sight_values(model, ids, 6, &seen, 1, values.data(), &error);
  mote_row rows[6];
  for (uint32_t i = 0; i < 6; ++i) rows[i] = {0, ids[i], 0, i == 5 ? 1u : 0u};
  mote_rows call{};
  call.rows = rows;
  call.count = 6;
  call.values = values.data();
  if (status == MOTE_OK) status = mote_compute(session, &call, &error);
  const mote_generation generation = [] {
    mote_generation options = mote_generation_default();
    options.max_tokens = 3;
    return options;
  }();
  if (status == MOTE_OK)
    status = mote_generate(session, nullptr, 0, &generation, nullptr, nullptr, nullptr, &error);
  expect_none(status, error);
#endif
}

TEST("nothing allocates while texts are normalized and put together") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::OpenModel model(test::pair_file());
  const test::OpenSession session(model, test::small_options(model));
  int32_t ids[64];
  mote_span spans[64];
  mote_token_kind kinds[64];
  uint32_t tokens = 0;
  mote_error error{};
  const char first[] = "who went to the cafe\u0301 \u4e2d?", second[] = "THEY WENT HOME\u0323\u0301.";
  calls = 0;
  counting = true;
  const mote_status status =
      mote_tokenize_pair(session.get(), first, sizeof first - 1, second, sizeof second - 1, MOTE_ADD_SPECIAL,
                         ids, 64, &tokens, spans, kinds, &error);
  counting = false;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
  TEST_ASSERT_EQUAL_UINT32(0, calls.load());
#endif
}

TEST("nothing allocates while recurrent and linear-attention models prefill, decode, save and restore") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  for (const char* name : {"lstm", "performer_causal"}) {
    const test::AlignedBytes& file = test::golden_file(name, "f32");
    const auto prompt = test::some_ids(40, 100);
    test::AlignedBytes storage(mote_model_bytes()), arena(size_t{4} << 20), state(size_t{1} << 20);
    count_allocations();
    mote_error error{};
    mote_model* model = nullptr;
    mote_session* session = nullptr;
    const auto change = [](mote_session_options& options) { options.context = 64; };
    mote_status status = open(file, storage, arena, change, &model, &session, &error);
    if (status == MOTE_OK) status = mote_prefill(session, 0, prompt.data(), 40, MOTE_LOGITS_LAST, &error);
    const int32_t id = 3;
    if (status == MOTE_OK) status = mote_decode(session, &id, &error);
    if (status == MOTE_OK) status = mote_session_save(session, state.data(), state.size(), nullptr, &error);
    if (status == MOTE_OK) status = mote_session_restore(session, state.data(), state.size(), &error);
    expect_none(status, error);
  }
#endif
}

TEST("nothing allocates while a T5 encodes a source and beams search over it") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::AlignedBytes& file = test::golden_file("t5", "f32");
  const auto source = test::some_ids(23, 100);
  test::AlignedBytes storage(mote_model_bytes()), arena(size_t{8} << 20), memory(size_t{1} << 16);
  mote_beam beams[4];
  count_allocations();
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  const auto change = [](mote_session_options& options) {
    options.context = 32;
    options.batch = options.logit_rows = 4;
  };
  mote_status status = open(file, storage, arena, change, &model, &session, &error);
  const uint32_t length = 23;
  mote_batch batch{};
  batch.ids = source.data();
  batch.lengths = &length;
  batch.count = 1;
  if (status == MOTE_OK) status = mote_encode(session, &batch, &error);
  const int32_t start = 0;
  if (status == MOTE_OK) status = mote_prefill(session, 0, &start, 1, MOTE_LOGITS_LAST, &error);
  mote_beam_options options = mote_model_beam_options(model);
  options.beams = 4;
  options.max_tokens = 20;
  options.no_repeat_ngram = 3;
  options.repetition_penalty = 1.2f;
  if (status == MOTE_OK)
    status = mote_beam_search(session, &options, memory.data(), memory.size(), beams, &error);
  expect_none(status, error);
  TEST_ASSERT_GREATER_THAN(0u, beams[0].count);
#endif
}

TEST("nothing allocates while a Transformer-XL reads four segments") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::AlignedBytes& file = test::golden_file("transformer_xl", "f32");
  const auto ids = test::some_ids(40, 100);
  test::AlignedBytes storage(mote_model_bytes()), arena(size_t{8} << 20);
  counting = true;
  calls = 0;
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  const auto change = [](mote_session_options& options) { options.context = 64; };
  mote_status status = open(file, storage, arena, change, &model, &session, &error);
  for (uint32_t segment = 0; segment < 4 && status == MOTE_OK; ++segment) {
    if (segment != 0) status = mote_session_begin_segment(session, 0, &error);
    if (status == MOTE_OK)
      status = mote_prefill(session, 0, ids.data() + 10 * segment, 10, MOTE_LOGITS_LAST, &error);
  }
  const uint32_t found = calls;
  counting = false;
  INFO(error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
  TEST_ASSERT_EQUAL_UINT32(0, found);
#endif
}
