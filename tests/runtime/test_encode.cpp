// SPDX-License-Identifier: Apache-2.0
//
// mote_encode: a sequence's outputs depend on nothing but the sequence, and calls that make no sense are
// refused.
#include <cmath>

#include "kernels/dispatch.h"
#include "tests/support/encode.h"
#include "tests/support/test_model.h"
#include "tests/support/thread_pool.h"

namespace {

using test::encode;
using test::options_for;
using test::output_of;
using test::same_bits;
using test::Sequences;

const char* const kEncoders[] = {
    "bert",       "roberta_masked_lm", "albert_qa",           "mpnet_sentence", "distilbert_classifier",
    "longformer", "fnet_classifier",   "perceiver_masked_lm", "xlnet",          "deberta_v2_conv"};

/// Three sequences of a golden encoder's vocabulary.
struct Texts {
  Sequences sequences = {test::some_ids(23, 100, 1), test::some_ids(1, 100, 2), test::some_ids(17, 100, 3)};
};

/// All rows of outputs, each sequence in a run of its own.
std::vector<float> encode_alone(mote_session* session, const mote_output_info& output,
                                const Sequences& sequences) {
  std::vector<float> all;
  for (const auto& sequence : sequences) {
    const std::vector<float> rows = encode(session, output, {sequence});
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

mote_status try_batch(mote_session* session, mote_batch batch) {
  mote_error error{};
  const mote_status status = mote_encode(session, &batch, &error);
  REQUIRE((status == MOTE_OK) == (error.text[0] == '\0'));
  return status;
}

}  // namespace

TEST("an encoder gives the same bits for any threads and any company in the run") {
  const Texts texts;
  for (const char* name : kEncoders) {
    for (const char* type : {"f32", "q8g32"}) {
      const test::OpenModel model(test::golden_file(name, type));
      const mote_output_info output = output_of(model);
      for (const mote_isa isa : test::all_families()) {
        CAPTURE(name, type, mote_isa_name(isa));
        mote_session_options options = options_for(model, 3);
        options.isa = isa;
        const std::vector<float> together =
            encode(test::OpenSession(model, options).get(), output, texts.sequences);
        const test::OpenSession one(model, options);
        const std::vector<float> alone = encode_alone(one.get(), output, texts.sequences);
        REQUIRE(same_bits(together, alone));
        for (const uint32_t threads : {2u, 3u}) {
          const test::ThreadPool pool(threads);
          options.platform = pool.platform();
          options.threads = threads;
          const bool same =
              same_bits(together, encode(test::OpenSession(model, options).get(), output, texts.sequences));
          REQUIRE(same);
        }
      }
    }
  }
}

TEST("a batch so large that each thread has rows of its own has the bits of its sequences alone",
     "[values]") {
  // 185 tokens, of which lanes part a sequence, and 180, of which two lanes are five sequences each.
  Sequences parted, whole;
  for (uint32_t i = 0; i < 10; ++i) {
    parted.push_back(test::some_ids(14 + i, 100, i));
    whole.push_back(test::some_ids(18, 100, i));
  }
  for (const char* name : kEncoders) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    const mote_output_info output = output_of(model);
    for (const mote_isa isa : test::all_families()) {
      for (const auto* sequences : {&parted, &whole}) {
        CAPTURE(name, mote_isa_name(isa), sequences == &whole);
        mote_session_options options = options_for(model, 10);
        options.context = 23;
        options.chunk = options.logit_rows = 192;
        options.isa = isa;
        const test::OpenSession one(model, options);
        const std::vector<float> alone = encode_alone(one.get(), output, *sequences);
        const test::ThreadPool pool(2);
        options.platform = pool.platform();
        options.isa = isa;
        options.threads = 2;
        const test::OpenSession session(model, options);
        const bool same = same_bits(alone, encode(session.get(), output, *sequences)) &&
                          same_bits(alone, encode(session.get(), output, *sequences));
        REQUIRE(same);
      }
    }
  }
}

TEST("a batch of more rows than a pass has the bits of its sequences alone, whole or step by step") {
  Sequences sequences;
  for (uint32_t i = 0; i < 24; ++i) sequences.push_back(test::some_ids(1 + i * 5 % 23, 100, i));
  for (const char* name : kEncoders) {
    CAPTURE(name);
    const test::OpenModel model(test::golden_file(name, "q8g32"));
    const mote_output_info output = output_of(model);
    mote_session_options options = options_for(model, 24);
    options.context = 23;
    options.chunk = options.logit_rows = 512;
    const test::OpenSession one(model, options_for(model, 1));
    const std::vector<float> alone = encode_alone(one.get(), output, sequences);
    const test::OpenSession session(model, options);
    REQUIRE(same_bits(alone, encode(session.get(), output, sequences)));

    // In a traced session, whose hidden rows are those of the whole batch, nothing is split.
    uint64_t rows_seen = 0;
    mote_session_options traced = options;
    traced.trace = [](void* user, const char*, const float*, uint32_t rows, uint32_t, size_t) {
      uint64_t& most = *static_cast<uint64_t*>(user);
      if (rows > most) most = rows;
    };
    traced.trace_user = &rows_seen;
    REQUIRE(same_bits(alone, encode(test::OpenSession(model, traced).get(), output, sequences)));
    mote_memory split{}, whole{};
    REQUIRE(mote_session_memory(model.get(), &options, &split, nullptr) == MOTE_OK);
    REQUIRE(mote_session_memory(model.get(), &traced, &whole, nullptr) == MOTE_OK);
    const bool remembers = std::string(name) == "xlnet";  // a model with a memory is never split
    TEST_ASSERT_EQUAL(remembers, split.activations == whole.activations);
    TEST_ASSERT_TRUE(split.activations <= whole.activations);

    std::vector<int32_t> ids;
    std::vector<uint32_t> lengths;
    for (const auto& sequence : sequences) {
      ids.insert(ids.end(), sequence.begin(), sequence.end());
      lengths.push_back(static_cast<uint32_t>(sequence.size()));
    }
    TEST_ASSERT_EQUAL_UINT64(ids.size(), rows_seen);
    TEST_ASSERT_GREATER_THAN(256u, ids.size());
    // Tokens asked for, out of order and from different passes.
    const uint32_t last = static_cast<uint32_t>(ids.size() - 1);
    const std::vector<uint32_t> rows = {last, 0, last / 2, 1};
    const bool of_tokens = output.of_sequences == 0;
    const mote_batch batch{
        ids.data(), nullptr, lengths.data(), 24, of_tokens ? rows.data() : nullptr, 4, nullptr, {}, {}, {}};
    int done = 0;
    REQUIRE(mote_encode_begin(session.get(), &batch, nullptr) == MOTE_OK);
    while (done == 0) {
      TEST_ASSERT_NULL(mote_session_output(session.get(), 0));
      REQUIRE(mote_encode_step(session.get(), 3, &done, nullptr) == MOTE_OK);
    }
    const size_t count = of_tokens ? rows.size() : sequences.size();
    for (uint32_t i = 0; i < count; ++i) {
      const float* expected = alone.data() + (of_tokens ? rows[i] : i) * size_t{output.width};
      TEST_ASSERT_EQUAL_MEMORY(expected, mote_session_output(session.get(), i), output.width * sizeof(float));
    }
  }
}

TEST("an encoder's run in single operations gives the same bits, and nothing before it is done") {
  for (const char* name : kEncoders) {
    CAPTURE(name);
    const test::OpenModel model(test::golden_file(name, "f32"));
    const mote_output_info output = output_of(model);
    const test::OpenSession session(model, options_for(model, 1));
    std::vector<int32_t> ids = test::some_ids(23, 100, 1);
    const std::vector<float> expected = encode(session.get(), output, {ids});
    const auto length = static_cast<uint32_t>(ids.size());
    const mote_batch batch{ids.data(), nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
    mote_error error{};
    REQUIRE(mote_encode_begin(session.get(), &batch, &error) == MOTE_OK);
    ids.assign(ids.size(), 0);  // was copied
    int done = 0;
    uint32_t steps = 0;
    while (done == 0) {
      TEST_ASSERT_NULL(mote_session_output(session.get(), 0));
      REQUIRE(mote_encode_step(session.get(), 1, &done, &error) == MOTE_OK);
      ++steps;
    }
    TEST_ASSERT_GREATER_THAN(10u, steps);
    for (uint32_t row = 0; row < expected.size() / output.width; ++row) {
      TEST_ASSERT_EQUAL_MEMORY(&expected[row * output.width], mote_session_output(session.get(), row),
                               output.width * sizeof(float));
    }
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_encode_step(session.get(), 1, &done, &error));
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_encode_step(session.get(), 1, nullptr, &error));
  }
}

TEST("rows choose the tokens whose outputs are computed") {
  const test::OpenModel model(test::golden_file("roberta_masked_lm", "f32"));
  const mote_output_info output = output_of(model);
  TEST_ASSERT_EQUAL_INT(MOTE_OUTPUT_MASKED_TOKEN, output.kind);
  TEST_ASSERT_EQUAL_UINT32(100, output.width);
  const test::OpenSession session(model, options_for(model, 2));
  const std::vector<int32_t> ids = test::some_ids(20, 100);
  const std::vector<float> all = encode(session.get(), output, {ids});
  const uint32_t length = 20, rows[] = {7, 0, 19};
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, try_batch(session.get(), {ids.data(), nullptr, &length, 1, rows, 3, nullptr, {}, {}, {}}));
  for (uint32_t i = 0; i < 3; ++i) {
    TEST_ASSERT_EQUAL_MEMORY(&all[rows[i] * 100], mote_session_output(session.get(), i), 100 * sizeof(float));
  }
  TEST_ASSERT_NULL(mote_session_output(session.get(), 3));
}

TEST("token types change the outputs and the first type is what none means") {
  const test::OpenModel model(test::golden_file("bert_classifier", "f32"));
  const mote_output_info output = output_of(model);
  TEST_ASSERT_EQUAL_UINT32(2, output.token_types);
  const test::OpenSession session(model, options_for(model, 1));
  const std::vector<int32_t> ids = test::some_ids(9, 100);
  const std::vector<float> none = encode(session.get(), output, {ids});
  const uint32_t length = 9;
  std::vector<int32_t> types(9, 0);
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK,
      try_batch(session.get(), {ids.data(), types.data(), &length, 1, nullptr, 0, nullptr, {}, {}, {}}));
  TEST_ASSERT_EQUAL_MEMORY(none.data(), mote_session_output(session.get(), 0), none.size() * sizeof(float));
  types[8] = 1;
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK,
      try_batch(session.get(), {ids.data(), types.data(), &length, 1, nullptr, 0, nullptr, {}, {}, {}}));
  REQUIRE(std::memcmp(none.data(), mote_session_output(session.get(), 0), none.size() * sizeof(float)) != 0);
  types[8] = 2;
  TEST_ASSERT_EQUAL_INT(
      MOTE_INVALID_ARGUMENT,
      try_batch(session.get(), {ids.data(), types.data(), &length, 1, nullptr, 0, nullptr, {}, {}, {}}));
}

TEST("global tokens are those of their own sequence, for any threads, and change what others see") {
  const test::OpenModel model(test::golden_file("longformer", "f32"));
  const mote_output_info output = output_of(model);
  const uint32_t lengths[] = {30, 9, 37, 12};
  const std::vector<int32_t> ids = test::some_ids(88, 100);
  std::vector<int32_t> types(ids.size());
  for (const size_t global : {0, 29, 41, 75, 87}) types[global] = static_cast<int32_t>(output.global_type);
  const auto run = [&](mote_session* session, size_t first, uint32_t count, const uint32_t* of,
                       bool globals) {
    const mote_batch batch{ids.data() + first,
                           globals ? types.data() + first : nullptr,
                           of,
                           count,
                           nullptr,
                           0,
                           nullptr,
                           0,
                           {},
                           {}};
    TEST_ASSERT_EQUAL_INT(MOTE_OK, try_batch(session, batch));
    std::vector<float> rows;
    for (uint32_t row = 0; const float* values = mote_session_output(session, row); ++row)
      rows.insert(rows.end(), values, values + output.width);
    return rows;
  };
  for (const mote_isa isa : test::all_families()) {
    CAPTURE(mote_isa_name(isa));
    const test::ThreadPool pool(2);
    mote_session_options options = options_for(model, 4);
    options.chunk = options.logit_rows = 88;
    options.isa = isa;
    const test::OpenSession one(model, options);
    options.platform = pool.platform();
    options.threads = 2;
    const test::OpenSession two(model, options);
    const std::vector<float> together = run(two.get(), 0, 4, lengths, true);
    TEST_ASSERT_FALSE(same_bits(together, run(one.get(), 0, 4, lengths, false)));
    std::vector<float> alone;
    for (size_t i = 0, first = 0; i < 4; first += lengths[i++]) {
      const std::vector<float> rows = run(one.get(), first, 1, lengths + i, true);
      alone.insert(alone.end(), rows.begin(), rows.end());
    }
    TEST_ASSERT_TRUE(same_bits(alone, together));
  }
}

TEST("batches that make no sense are refused with a message") {
  const test::OpenModel model(test::golden_file("roberta_masked_lm", "f32"));
  mote_session_options options = options_for(model, 2);
  options.logit_rows = 4;
  const test::OpenSession session(model, options);
  const std::vector<int32_t> ids = test::some_ids(70, 100);
  const int32_t wrong_ids[] = {5, 100};
  const uint32_t good[] = {20, 20, 20}, none[] = {3, 0}, too_long[] = {29}, two = 2, far[] = {40};
  const auto refused = [&](mote_batch batch, mote_status expected) {
    TEST_ASSERT_EQUAL_INT(expected, try_batch(session.get(), batch));
  };
  refused({nullptr, nullptr, good, 1, good, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, nullptr, 1, good, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, good, 0, good, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, good, 3, good, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, none, 2, good, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, too_long, 1, good, 1, nullptr, {}, {}, {}}, MOTE_CONTEXT_FULL);
  refused({wrong_ids, nullptr, &two, 1, none + 1, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, good, 2, far, 1, nullptr, {}, {}, {}}, MOTE_INVALID_ARGUMENT);
  refused({ids.data(), nullptr, good, 2, nullptr, 0, nullptr, {}, {}, {}},
          MOTE_INVALID_ARGUMENT);  // 40 rows, room for 4
  refused({ids.data(), nullptr, good, 2, good, 1, nullptr, 1, {}, {}},
          MOTE_INVALID_ARGUMENT);  // it has no memory
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, try_batch(session.get(), {ids.data(), nullptr, good, 2, good, 1, nullptr, {}, {}, {}}));
}

TEST("calls of decoders are refused by encoders and the other way round") {
  const test::OpenModel model(test::golden_file("mpnet_sentence", "f32"));
  const test::OpenSession session(model, options_for(model, 1));
  const int32_t id = 5;
  mote_generation generation = mote_generation_default();
  char state[8192];
  int32_t sampled;
  mote_event event;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_prefill(session.get(), 0, &id, 1, MOTE_LOGITS_LAST, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_decode(session.get(), &id, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_generation_begin(session.get(), &id, 1, &generation, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_session_step(session.get(), 0, &event, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        mote_session_save(session.get(), state, sizeof state, nullptr, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_session_restore(session.get(), state, sizeof state, nullptr));
  TEST_ASSERT_EQUAL_UINT64(0, mote_session_state_bytes(session.get()));
  encode(session.get(), output_of(model), {{5, 6}});
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sample(session.get(), 0, &sampled, nullptr));
  TEST_ASSERT_EQUAL_UINT32(0, mote_session_length(session.get(), 0));

  const test::OpenModel decoder(test::golden_file("llama", "f32"));
  const test::OpenSession other(decoder, test::small_options(decoder));
  const uint32_t one = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        try_batch(other.get(), {&id, nullptr, &one, 1, nullptr, 0, nullptr, {}, {}, {}}));
  TEST_ASSERT_EQUAL_INT(MOTE_OUTPUT_NEXT_TOKEN, output_of(decoder).kind);
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    of_a += static_cast<double>(a[i]) * a[i];
    of_b += static_cast<double>(b[i]) * b[i];
  }
  return dot / std::sqrt(of_a * of_b);
}

TEST(
    "caches of bf16 and i8 are close to one of f16, and chosen alone for quantized weights where they are "
    "faster") {
  for (const std::string type : {"q8c", "q8g32", "f32"}) {
    const test::OpenModel model(test::golden_file("bert", type));
    for (const mote_isa isa : test::all_families()) {
      CAPTURE(type, mote_isa_name(isa));
      const auto outputs = [&](mote_kv_dtype kv_dtype) {
        mote_session_options options = options_for(model, 3);
        options.isa = isa;
        options.kv_dtype = kv_dtype;
        return encode(test::OpenSession(model, options).get(), output_of(model), Texts().sequences);
      };
      mote::Isa level = mote::Isa::kRef;
      REQUIRE(mote::isa_from_public(isa, &level));
      using mote::DType, mote::Isa;
      const bool bytes =
          mote::find_kernel(mote::Op::kAttention, DType::f32, DType::i8, level)->isa != Isa::kRef;
      const mote_kv_dtype expected = type == "f32" ? MOTE_KV_F32 : bytes ? MOTE_KV_I8 : MOTE_KV_F16;
      REQUIRE(same_bits(outputs(MOTE_KV_AUTO), outputs(expected)));
      const std::vector<float> half = outputs(MOTE_KV_F16);
      for (const mote_kv_dtype shorter : {MOTE_KV_BF16, MOTE_KV_I8}) {
        REQUIRE_FALSE(same_bits(half, outputs(shorter)));
        TEST_ASSERT_GREATER_THAN(0.9999, cosine(half, outputs(shorter)));
      }
    }
  }
}
