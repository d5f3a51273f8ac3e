// SPDX-License-Identifier: Apache-2.0
//
// Encoders of texts: their self test, vectors and labels.
#include <cmath>

#include "tests/support/encode.h"
#include "tests/support/test_model.h"

using test::encode;
using test::options_for;
using test::output_of;
using test::same_bits;

TEST("an encoder's self test is replayed, also that of a single output") {
  for (const char* name : {"bert", "roberta_masked_lm", "albert_qa", "mpnet_sentence",
                           "distilbert_classifier", "electra_discriminator"}) {
    for (const char* type : {"f32", "q8c", "q8g32", "q4mg32", "q4g32"}) {
      const test::OpenModel model(test::golden_file(name, type));
      for (const mote_isa isa : test::all_families()) {
        mote_session_options options = options_for(model, 1);
        options.isa = isa;
        const test::OpenSession session(model, options);
        mote_self_test result{};
        mote_error error{};
        const mote_status status = mote_session_self_test(session.get(), &result, &error);
        CAPTURE(name, type, mote_isa_name(isa), result.largest_difference, result.tolerance, error.text);
        REQUIRE(status == MOTE_OK);
        TEST_ASSERT_GREATER_THAN(0.0f, result.tolerance);
      }
    }
  }
}

TEST("embed gives the vector of a text, of length 1, and truncates on request alone") {
  const test::OpenModel model(test::text_file("f32", "mpnet_sentence"));
  const test::OpenSession session(model, options_for(model, 1));
  const uint32_t width = output_of(model).width;
  std::vector<float> vector(width);
  const std::string text = "the tokenizer";
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, mote_embed(session.get(), text.data(), text.size(), 0, vector.data(), width, nullptr));
  std::vector<int32_t> ids(32);
  uint32_t count = 0;
  REQUIRE(mote_tokenize(session.get(), text.data(), text.size(), MOTE_ADD_SPECIAL, ids.data(), 32, &count,
                        nullptr, nullptr) == MOTE_OK);
  ids.resize(count);
  REQUIRE(same_bits(vector, encode(session.get(), output_of(model), {ids})));
  double length = 0;
  for (const float value : vector) length += double{value} * double{value};
  TEST_ASSERT_FLOAT_WITHIN(1e-6, 1.0, length);

  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "q7 ";
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_CONTEXT_FULL, mote_embed(session.get(), longer.data(), longer.size(), 0,
                                                      vector.data(), width, &error));
  TEST_ASSERT_TRUE(std::string(error.text).find("at most 23") != std::string::npos);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_embed(session.get(), longer.data(), longer.size(), MOTE_TRUNCATE,
                                            vector.data(), width, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_classify(session.get(), text.data(), text.size(), 0,
                                                        vector.data(), width, nullptr));
}

TEST("classify gives probabilities that add up to 1, and the labels have names") {
  const test::OpenModel model(test::text_file("f32", "bert_classifier"));
  const test::OpenSession session(model, options_for(model, 1));
  const mote_output_info output = output_of(model);
  TEST_ASSERT_EQUAL_UINT32(3, output.labels);
  TEST_ASSERT_EQUAL_STRING("LABEL_2", mote_model_label(model.get(), 2));
  TEST_ASSERT_NULL(mote_model_label(model.get(), 3));
  float probabilities[3];
  const std::string text = "hello stop";
  REQUIRE(mote_classify(session.get(), text.data(), text.size(), 0, probabilities, 3, nullptr) == MOTE_OK);
  const float* logits = mote_session_output(session.get(), 0);
  double total = 0;
  for (int i = 0; i < 3; ++i) total += std::exp(double{logits[i]});
  for (int i = 0; i < 3; ++i)
    TEST_ASSERT_FLOAT_WITHIN(1e-6, std::exp(double{logits[i]}) / total, probabilities[i]);
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_classify(session.get(), text.data(), text.size(), 0, probabilities, 2, nullptr));
}

TEST("embed puts the model's prompt before a text, embed_as another or none") {
  const std::filesystem::path path = test::kept_file("prompted.mote", [](const std::filesystem::path& to) {
    std::ifstream tokenizer(test::golden_folder() / "../tokenizers/small/tokenizer.json");
    const std::filesystem::path folder =
        test::with_tokenizer("mpnet_sentence", "prompted", {std::istreambuf_iterator<char>(tokenizer), {}});
    std::ofstream(folder / "config_sentence_transformers.json")
        << R"({"prompts": {"query": "the ", "document": "hello there the "}, "default_prompt_name": "query"})";
    mote::convert::ConvertOptions options;
    options.type = "f32";
    mote::convert::convert(folder, to, options);
  });
  const test::AlignedBytes file = test::read_file(path);
  const test::OpenModel model(file);
  TEST_ASSERT_EQUAL_INT(1, mote_model_unit_vectors(model.get()));
  mote_session_options options = options_for(model, 1);
  options.text_bytes = 64;
  const test::OpenSession session(model, options);
  const uint32_t width = output_of(model).width;
  mote_error error{};
  const auto vector_of = [&](int32_t prompt, const std::string& text) {
    std::vector<float> vector(width);
    const mote_status status =
        mote_embed_as(session.get(), prompt, text.data(), text.size(), 0, vector.data(), width, &error);
    CAPTURE(error.text);
    REQUIRE(status == MOTE_OK);
    return vector;
  };
  std::vector<float> plain(width);
  REQUIRE(mote_embed(session.get(), "tokenizer", 9, 0, plain.data(), width, &error) == MOTE_OK);
  REQUIRE(same_bits(plain, vector_of(-1, "the tokenizer")));
  REQUIRE(!same_bits(plain, vector_of(-1, "tokenizer")));
  for (int32_t i = 0; const char* text = mote_model_prompt(model.get(), static_cast<uint32_t>(i), nullptr);
       ++i)
    REQUIRE(same_bits(vector_of(i, "tokenizer"), vector_of(-1, text + std::string("tokenizer"))));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_embed_as(session.get(), 2, "a", 1, 0, plain.data(), width, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_embed_as(session.get(), -2, "a", 1, 0, plain.data(), width, &error));
  const std::string longer(200, 'q');
  TEST_ASSERT_EQUAL_INT(MOTE_TEXT_TOO_LONG, mote_embed(session.get(), longer.data(), longer.size(),
                                                       MOTE_TRUNCATE, plain.data(), width, &error));
  TEST_ASSERT_TRUE(std::string(error.text).find("behind a prompt of 4; the session's text_bytes are 64") !=
                   std::string::npos);
}
