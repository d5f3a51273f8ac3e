// SPDX-License-Identifier: Apache-2.0
//
// The no-heap promise: between opening a model and restoring a session nothing allocates.
#include "mote/beams.h"
#include "mote/pictures.h"
#include "mote/sound.h"
#include "mote/speculate.h"
#include "mote/voice.h"
#include "tests/support/count_allocations.h"
#include "tests/support/test_model.h"
#include "tests/support/thread_pool.h"

using test::calls;
using test::counting;

#ifdef MOTE_SANITIZED
TEST("nothing allocates, which is counted where no sanitizer owns malloc") {
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
}
#else
namespace {

void count_allocations() {
  calls = 0;
  counting = true;
}

/// A model and a session in memory of their own, and what became of the calls on them.
struct Counted {
  Counted(const test::AlignedBytes& of, size_t arena_bytes)
      : file(of), storage(mote_model_bytes()), arena(arena_bytes) {}

  /// From here on allocations are counted. change(options) sets what is not the default.
  template <class Change>
  void open(Change change) {
    count_allocations();
    go_on([&] {
      return mote_model_open(file.data(), file.size(), MOTE_OPEN_CHECK_HASHES, storage.data(), storage.size(),
                             &model, &error);
    });
    go_on([&] {
      mote_session_options options = mote_session_options_default(model);
      change(options);
      const size_t bytes = mote_session_bytes(model, &options);
      return mote_session_init(model, &options, arena.data(), bytes, &session, &error);
    });
  }
  void open() {
    open([](mote_session_options&) {});
  }

  /// Makes the call, unless one has failed.
  template <class Call>
  void go_on(Call call) {
    if (status == MOTE_OK) status = call();
  }
  void encode(const mote_batch& batch) {
    go_on([&] { return mote_encode(session, &batch, &error); });
  }
  /// One sequence, of ids or of floats.
  void encode_one(const int32_t* ids, const float* values, uint32_t length, uint32_t columns = 0) {
    mote_batch batch{};
    batch.ids = ids;
    batch.values = values;
    batch.lengths = &length;
    batch.columns = columns == 0 ? nullptr : &columns;
    batch.count = 1;
    encode(batch);
  }
  void prefill(const int32_t* ids, uint32_t n) {
    go_on([&] { return mote_prefill(session, 0, ids, n, MOTE_LOGITS_LAST, &error); });
  }
  void generate(const int32_t* ids, uint32_t n, const mote_generation& generation) {
    go_on([&] { return mote_generate(session, ids, n, &generation, nullptr, nullptr, nullptr, &error); });
  }
  void save_and_restore(test::AlignedBytes& state) {
    go_on([&] { return mote_session_save(session, state.data(), state.size(), nullptr, &error); });
    go_on([&] { return mote_session_restore(session, state.data(), state.size(), &error); });
  }
  void test_itself() {
    mote_self_test result;
    go_on([&] { return mote_session_self_test(session, &result, &error); });
  }

  /// Ends the count: all calls succeeded, and none allocated.
  void expect_none() {
    const uint32_t found = calls;
    counting = false;
    INFO(error.text);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
    TEST_ASSERT_EQUAL_UINT32(0, found);
  }

  const test::AlignedBytes& file;
  test::AlignedBytes storage, arena;
  mote_error error{};
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  mote_status status = MOTE_OK;
};

}  // namespace

TEST("nothing allocates between opening a model and restoring a session") {
  for (const char* type : {"f32", "q4g32"}) {
    const auto prompt = test::some_ids(40, 100);
    Counted run(test::text_file(type), size_t{4} << 20);
    test::AlignedBytes state(size_t{1} << 20);
    const test::ThreadPool pool(2);

    count_allocations();
    void* check = malloc(1);
    const uint32_t seen = calls;
    run.open([&](mote_session_options& options) {
      options.platform = pool.platform();
      options.text_bytes = 4096;
      options.logit_rows = 6;
    });
    run.prefill(prompt.data(), 40);
    const int32_t id = 3;
    run.go_on([&] { return mote_decode(run.session, &id, &run.error); });
    mote_generation generation = mote_generation_default();
    generation.max_tokens = 5;
    generation.sampling.temperature = 1;
    generation.sampling.top_k = 10;
    generation.sampling.top_p = 0.9f;
    generation.sampling.repetition_penalty = 1.1f;
    run.generate(&id, 1, generation);
    const mote_speculation_options few = [] {
      mote_speculation_options options = mote_speculation_options_default();
      options.most = 5;
      options.places = 64;
      return options;
    }();
    alignas(8) uint8_t guesses[1024];
    run.go_on([&] {
      return mote_speculation_init(guesses, sizeof guesses, &few, &generation.guesses, &run.error);
    });
    run.generate(&id, 1, generation);
    generation.guesses = nullptr;
    const char text[] = "the tokenizer says hello <mask> stop 123";
    int32_t ids[64];
    mote_span spans[64];
    uint32_t tokens = 0;
    run.go_on([&] {
      return mote_tokenize(run.session, text, sizeof text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL, ids, 64,
                           &tokens, spans, &run.error);
    });
    mote_detokenizer detokenizer;
    run.go_on([&] { return mote_detokenizer_start(run.model, 0, &detokenizer, &run.error); });
    char out[256];
    size_t written = 0;
    for (uint32_t i = 0; i < tokens; ++i) {
      run.go_on([&] {
        return mote_detokenizer_next(run.model, &detokenizer, ids[i], out, sizeof out, &written, &run.error);
      });
    }
    run.go_on([&] {
      return mote_detokenizer_finish(run.model, &detokenizer, out, sizeof out, &written, &run.error);
    });
    const mote_message message = {MOTE_ROLE_USER, text, sizeof text - 1, 0, 0, {}};
    int32_t chat_ids[256];
    run.go_on([&] {
      return mote_chat_tokenize(run.session, &message, 1, 1, out, sizeof out, chat_ids, 256, &tokens,
                                &run.error);
    });
    run.save_and_restore(state);
    run.test_itself();
    free(check);
    run.expect_none();
    TEST_ASSERT_EQUAL_UINT32(1, seen);
  }
}

TEST("nothing allocates while a Whisper hears, writes and tests itself") {
  constexpr uint32_t kFrames = 48, kMels = 16, kFft = 400, kHop = 160, kBins = kFft / 2 + 1;
  std::vector<float> samples(size_t{kFrames} * kHop), features(size_t{kFrames} * kMels),
      filters(size_t{kMels} * kBins);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i * i % 101) / 101.0f - 0.5f;
  const mote_log_mel mel{kFft, kHop, kMels, kBins, filters.data(), 0, 0, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&mel) / sizeof(double));
  Counted run(test::golden_file("whisper", "q8g32"), size_t{8} << 20);
  run.open();
  mote_mel_filters(16000, kMels, kBins, filters.data());
  run.go_on([&] {
    return mote_log_mel_compute(&mel, samples.data(), kFrames * kHop, scratch.data(), features.data(),
                                &run.error);
  });
  run.encode_one(nullptr, features.data(), kFrames);
  const int32_t start = 3;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 8;
  run.generate(&start, 1, generation);
  run.test_itself();
  run.expect_none();
}

TEST("nothing allocates while an encoder opens, encodes, embeds and labels") {
  for (const char* name : {"mpnet_sentence", "bert_classifier"}) {
    const auto ids = test::some_ids(20, 100);
    Counted run(test::text_file("q8g32", name), size_t{4} << 20);
    run.open([&](mote_session_options& options) {
      options.batch = 2;
      options.text_bytes = 4096;
    });
    const uint32_t lengths[] = {12, 8};
    const mote_batch batch{ids.data(), nullptr, lengths, 2, nullptr, 0, nullptr, {}, {}, {}};
    run.encode(batch);
    mote_output_info output;
    mote_model_get_output(run.model, &output);
    float row[64];
    run.go_on([&] {
      return output.kind == MOTE_OUTPUT_EMBEDDING
                 ? mote_embed(run.session, "hello there", 11, MOTE_TRUNCATE, row, output.width, &run.error)
                 : mote_classify(run.session, "hello there", 11, MOTE_TRUNCATE, row, output.width,
                                 &run.error);
    });
    run.test_itself();
    run.expect_none();
  }
}

TEST("nothing allocates while a voice speaks") {
  Counted counted(test::golden_file("vits", "q8"), size_t{16} << 20);
  const auto ids = test::some_ids(12, 33);
  const test::AlignedBytes memory(size_t{1} << 16);
  float samples[2048];
  mote_utterance* utterance = nullptr;
  size_t count = 0;
  counted.open([](mote_session_options& options) {
    options.context = 16;
    options.chunk = options.logit_rows = 128;
  });
  counted.go_on([&] {
    const mote_speak_options options = mote_speak_options_default(counted.model);
    return mote_speak_begin(counted.session, ids.data(), 12, &options, memory.data(), memory.size(),
                            &utterance, &counted.error);
  });
  counted.go_on(
      [&] { return mote_speak_next(counted.session, utterance, samples, 2048, &count, &counted.error); });
  counted.expect_none();
  TEST_ASSERT_GREATER_THAN(0u, count);
}

TEST("nothing allocates while a ViT and a Swin label a picture") {
  for (const char* name : {"vit_classifier", "swin_classifier"}) {
    Counted run(test::golden_file(name, "q8g32"), size_t{4} << 20);
    const std::vector<float> pixels(size_t{3} * 64 * 64, 0.25f);
    std::vector<float> rows(size_t{1} << 16);
    run.open();
    mote_picture_info picture{};
    run.go_on([&] { return mote_model_get_picture(run.model, &picture, &run.error); });
    if (run.status == MOTE_OK) mote_picture_rows(&picture, pixels.data(), rows.data());
    run.encode_one(nullptr, rows.data(), picture.rows);
    float row[64];
    mote_output_info output;
    mote_model_get_output(run.model, &output);
    run.go_on([&] { return mote_probabilities(run.session, 0, row, output.width, &run.error); });
    run.expect_none();
  }
}

TEST("nothing allocates while one session sees pictures of changing size") {
  using Sides = std::vector<std::pair<uint32_t, uint32_t> >;
  for (const auto& [name, all] :
       {std::pair{"dinov2", Sides{{54, 54}, {12, 48}, {24, 24}, {54, 18}, {54, 54}}},
        {"swin_classifier", {{48, 48}, {28, 60}, {32, 32}, {44, 36}, {48, 48}}}}) {
    mote::convert::ConvertOptions options;
    options.type = "f32";
    options.any_picture_size = {all[0].first, all[0].second};
    const test::AlignedBytes file =
        test::kept_conversion(std::string(name) + ".any_size_f32", test::golden_folder() / name, options);
    const std::vector<float> pixels(1 << 16, 0.5f);
    std::vector<float> rows(1 << 16);
    Counted run(file, 1 << 22);
    run.open();
    for (const auto& [height, width] : all) {
      mote_picture_info picture{};
      run.go_on([&, high = height, wide = width] {
        return mote_picture_of_size(run.model, high, wide, &picture, &run.error);
      });
      if (run.status == MOTE_OK) mote_picture_rows(&picture, pixels.data(), rows.data());
      run.encode_one(nullptr, rows.data(), picture.rows, picture.width / picture.patch);
    }
    run.expect_none();
  }
}

TEST("nothing allocates while a prompt with a picture is read and continued") {
  Counted run(test::golden_file("qwen3_vl", "q8g32"), size_t{8} << 20);
  const std::vector<float> features(size_t{4} * 256, 0.5f);
  std::vector<float> values(size_t{6} * 512);
  run.open();
  mote_vision_input_info vision_input{};
  run.go_on([&] { return mote_model_get_vision_input(run.model, &vision_input, &run.error); });
  const int32_t image = vision_input.image_id, ids[] = {5, image, image, image, image, 6};
  const mote_picture_vectors seen = {features.data(), 2, 2};
  run.go_on([&] { return mote_vision_input_values(run.model, ids, 6, &seen, 1, values.data(), &run.error); });
  mote_row rows[6];
  for (uint32_t i = 0; i < 6; ++i) rows[i] = {0, ids[i], 0, i == 5 ? 1u : 0u};
  mote_rows call{};
  call.rows = rows;
  call.count = 6;
  call.values = values.data();
  run.go_on([&] { return mote_compute(run.session, &call, &run.error); });
  const mote_generation generation = [] {
    mote_generation options = mote_generation_default();
    options.max_tokens = 3;
    return options;
  }();
  run.generate(nullptr, 0, generation);
  run.expect_none();
}

TEST("nothing allocates while texts are normalized and put together") {
  const test::OpenModel model(test::pair_file());
  const test::OpenSession session(model, test::small_options(model));
  int32_t ids[64];
  mote_span spans[64];
  mote_token_kind kinds[64];
  uint32_t tokens = 0;
  mote_error error{};
  const char first[] = "who went to the cafe\u0301 \u4e2d?", second[] = "THEY WENT HOME\u0323\u0301.";
  count_allocations();
  const mote_status status =
      mote_tokenize_pair(session.get(), first, sizeof first - 1, second, sizeof second - 1, MOTE_ADD_SPECIAL,
                         ids, 64, &tokens, spans, kinds, &error);
  counting = false;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
  TEST_ASSERT_EQUAL_UINT32(0, calls.load());
}

TEST("nothing allocates while recurrent and linear-attention models prefill, decode, save and restore") {
  for (const char* name : {"lstm", "performer_causal"}) {
    const auto prompt = test::some_ids(40, 100);
    Counted run(test::golden_file(name, "f32"), size_t{4} << 20);
    test::AlignedBytes state(size_t{1} << 20);
    run.open([](mote_session_options& options) { options.context = 64; });
    run.prefill(prompt.data(), 40);
    const int32_t id = 3;
    run.go_on([&] { return mote_decode(run.session, &id, &run.error); });
    run.save_and_restore(state);
    run.expect_none();
  }
}

TEST("nothing allocates while a T5 encodes a source and beams search over it") {
  for (const char* type : {"f32", "q8g32"}) {
    const auto source = test::some_ids(23, 100);
    Counted run(test::golden_file("t5", type), size_t{8} << 20);
    test::AlignedBytes memory(size_t{1} << 16);
    mote_beam beams[4];
    run.open([](mote_session_options& options) {
      options.context = 32;
      options.batch = options.logit_rows = 4;
    });
    run.encode_one(source.data(), nullptr, 23);
    const int32_t start = 0;
    run.prefill(&start, 1);
    mote_beam_options options = mote_model_beam_options(run.model);
    options.beams = 4;
    options.max_tokens = 20;
    options.no_repeat_ngram = 3;
    options.repetition_penalty = 1.2f;
    run.go_on([&] {
      return mote_beam_search(run.session, &options, memory.data(), memory.size(), beams, &run.error);
    });
    run.expect_none();
    TEST_ASSERT_GREATER_THAN(0u, beams[0].count);
  }
}

TEST("nothing allocates while a Transformer-XL reads four segments") {
  const auto ids = test::some_ids(40, 100);
  Counted run(test::golden_file("transformer_xl", "f32"), size_t{8} << 20);
  run.open([](mote_session_options& options) { options.context = 64; });
  for (uint32_t segment = 0; segment < 4; ++segment) {
    if (segment != 0) run.go_on([&] { return mote_session_begin_segment(run.session, 0, &run.error); });
    run.prefill(ids.data() + 10 * segment, 10);
  }
  run.expect_none();
}
#endif
