// SPDX-License-Identifier: Apache-2.0
//
// Decoders as embedders, from their files to vectors: the last hidden state of the last token.
#include <cmath>
#include <fstream>

#include "converter/readers/safetensors.h"
#include "tests/support/encode.h"

namespace {

namespace fs = std::filesystem;
using mote::convert::SafetensorsFile;

/// The first sequence of a golden model and the last hidden state of its last token.
struct LastToken {
  std::vector<int32_t> ids;
  std::vector<float> hidden;
};

LastToken last_token(const std::string& name) {
  const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
  LastToken last;
  for (const int64_t id : golden.i64("input_ids")) last.ids.push_back(static_cast<int32_t>(id));
  last.ids.resize(golden.shape("input_ids").at(1));
  uint32_t layers = 0;
  while (golden.has("hidden." + std::to_string(layers + 1))) ++layers;
  const std::string stored = "hidden." + std::to_string(layers);
  const std::vector<float> rows = golden.f32(stored);
  const auto width = static_cast<std::ptrdiff_t>(golden.shape(stored).back());
  const auto end = rows.begin() + width * static_cast<std::ptrdiff_t>(last.ids.size());
  last.hidden.assign(end - width, end);
  return last;
}

/// Of `ids`, in a session of its own.
std::vector<float> embed(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  TEST_ASSERT_EQUAL_INT(MOTE_OUTPUT_EMBEDDING, output.kind);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = options.logit_rows = static_cast<uint32_t>(ids.size());
  const test::OpenSession session(model, options);
  return test::encode(session.get(), output, {ids});
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Words w0 to w99 with their numbers as ids, and the last id of every text, as Qwen3's embedders have it.
std::string tokenizer_of_words(int32_t end) {
  std::string vocab;
  for (int32_t id = 0; id < 100; ++id) {
    const std::string word = id == end ? "<|endoftext|>" : "w" + std::to_string(id);
    vocab += (id == 0 ? "\"" : ", \"") + word + "\": " + std::to_string(id);
  }
  const std::string id = std::to_string(end);
  return R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [{"id": )" + id +
         R"(, "content": "<|endoftext|>", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": true}], "normalizer": null,
             "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
             "post_processor": {"type": "TemplateProcessing",
               "single": [{"Sequence": {"id": "A", "type_id": 0}},
                          {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}],
               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
               "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [)" +
         id + R"(], "tokens": ["<|endoftext|>"]}}},
             "model": {"type": "WordPiece", "unk_token": "w0", "continuing_subword_prefix": "##",
                       "max_input_chars_per_word": 100, "vocab": {)" +
         vocab + "}}}";
}

std::string words(const std::vector<int32_t>& ids, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += "w" + std::to_string(ids[i]) + " ";
  return text;
}

}  // namespace

TEST("a decoder with a pooling of the last token gives that token's last hidden state") {
  for (const char* name : {"qwen3", "mistral", "gemma2"}) {  // of all tokens, of a window, of both
    CAPTURE(name);
    const fs::path path = test::temporary_folder() / (std::string(name) + ".pooled.mote");
    mote::convert::ConvertOptions options;
    options.type = "f32";
    options.pooling = "last";
    mote::convert::convert(test::golden_folder() / name, path, options);
    const test::AlignedBytes file = test::read_file(path);
    const test::OpenModel model(file);
    const LastToken last = last_token(name);
    const std::vector<float> vector = embed(model, last.ids);
    TEST_ASSERT_EQUAL_UINT32(last.hidden.size(), vector.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), last.hidden.data(), vector.data(),
                                   vector.size());
  }
}

TEST("an embedder of Qwen3's kind: its prompt before a text, the end token's state, of length 1") {
  const LastToken last = last_token("qwen3");
  const size_t prompt_words = 9, text_end = last.ids.size() - 1;
  const fs::path folder = test::temporary_folder() / "qwen3_embedding";
  fs::copy(test::golden_folder() / "qwen3", folder, fs::copy_options::recursive);
  write_text(folder / "modules.json", R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  write_text(folder / "1_Pooling/config.json", R"({"word_embedding_dimension": 40,
    "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": false, "pooling_mode_max_tokens": false,
    "pooling_mode_mean_sqrt_len_tokens": false, "pooling_mode_weightedmean_tokens": false,
    "pooling_mode_lasttoken": true, "include_prompt": true})");
  write_text(folder / "config_sentence_transformers.json",
             R"({"prompts": {"query": ")" + words(last.ids, 0, prompt_words) +
                 R"(", "document": ""}, "default_prompt_name": null, "similarity_fn_name": "cosine"})");
  write_text(folder / "tokenizer.json", tokenizer_of_words(last.ids.back()));
  const fs::path path = test::temporary_folder() / "qwen3_embedding.mote";
  mote::convert::ConvertOptions options;
  options.type = "f32";
  mote::convert::convert(folder, path, options);
  const test::AlignedBytes file = test::read_file(path);
  const test::OpenModel model(file);
  TEST_ASSERT_EQUAL_INT(-1, mote_model_default_prompt(model.get()));
  std::string prompt;
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(model.get(), i, &name); ++i) {
    if (std::string(name) == "query") prompt = text;
  }

  const std::string text = prompt + words(last.ids, prompt_words, text_end);
  mote_session_options session_options = mote_session_options_default(model.get());
  session_options.chunk = session_options.logit_rows = static_cast<uint32_t>(last.ids.size());
  const test::OpenSession session(model, session_options);
  std::vector<int32_t> ids(last.ids.size());
  uint32_t count = 0;
  mote_error error{};
  REQUIRE(mote_tokenize(session.get(), text.data(), text.size(), MOTE_ADD_SPECIAL, ids.data(),
                        static_cast<uint32_t>(ids.size()), &count, nullptr, &error) == MOTE_OK);
  TEST_ASSERT_EQUAL_UINT32(last.ids.size(), count);
  TEST_ASSERT_TRUE(ids == last.ids);
  std::vector<float> vector(last.hidden.size()), expected = last.hidden;
  REQUIRE(mote_embed(session.get(), text.data(), text.size(), 0, vector.data(),
                     static_cast<uint32_t>(vector.size()), &error) == MOTE_OK);
  double squares = 0;
  for (const float value : expected) squares += double{value} * double{value};
  for (float& value : expected) value = static_cast<float>(double{value} / std::sqrt(squares));
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance("qwen3"), expected.data(), vector.data(),
                                 vector.size());
}
