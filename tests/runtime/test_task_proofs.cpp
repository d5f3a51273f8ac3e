// SPDX-License-Identifier: Apache-2.0
//
// The thing that a model is for: what the file says of it is proved when it is opened.
#include <cmath>
#include <set>
#include <string>

#include "mote/task.h"
#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

namespace {

using mote::file::Model;
using ModelTask = mote::file::Task;

mote_status opened_when(const char* name, const std::function<void(Model*)>& change) {
  const test::AlignedBytes& file = test::golden_file(name, "f32");
  mote_error error{};
  const mote_status status = test::open_changed(test::AlignedBytes(file.data(), file.size()), &error, change);
  TEST_ASSERT_TRUE((status == MOTE_OK) == (error.text[0] == 0));
  return status;
}

struct Purpose {
  const char* model;
  ModelTask task;
};

/// A golden model for each task.
constexpr Purpose kPurposes[] = {
    {"llama", ModelTask::generate},
    {"bart", ModelTask::rewrite},
    {"mpnet_sentence", ModelTask::embed_texts},
    {"bert_classifier", ModelTask::label_texts},
    {"bert_cross_encoder", ModelTask::score_pairs},
    {"modernbert_tokens", ModelTask::label_tokens},
    {"albert_qa", ModelTask::find_answers},
    {"camembert_masked", ModelTask::fill_masks},
    {"dinov3_vit", ModelTask::embed_pictures},
    {"vit_classifier", ModelTask::label_pictures},
    {"yolos", ModelTask::detect},
    {"depth_anything", ModelTask::measure_depth},
    {"trocr", ModelTask::read_pictures},
    {"ast_classifier", ModelTask::label_sounds},
    {"clap_audio", ModelTask::embed_sounds},
    {"wav2vec2_ctc", ModelTask::transcribe_words},
    {"parakeet_ctc", ModelTask::transcribe_tokens},
    {"parakeet_tdt", ModelTask::transcribe_transducer},
    {"whisper", ModelTask::transcribe_windows},
    {"moonshine", ModelTask::transcribe_greedy},
    {"moonshine_streaming", ModelTask::transcribe_greedy},
    {"speech_to_text", ModelTask::transcribe_beams},
    {"vits", ModelTask::speak},
    {"bert", ModelTask::none},
};

}  // namespace

TEST("a file says what its model is for") {
  for (const Purpose& purpose : kPurposes) {
    CAPTURE(purpose.model);
    const test::OpenModel model(test::golden_file(purpose.model, "f32"));
    mote_task_info info;
    mote_model_get_task(model.get(), &info);
    TEST_ASSERT_EQUAL_STRING(mote::file::EnumNameTask(purpose.task), mote_model_task_name(info.task));
    TEST_ASSERT_EQUAL_INT(-1, info.mask_id);  // none of these has a tokenizer with a mask
  }
}

TEST("a task that the model's programs and inputs are not made for is refused") {
  for (const Purpose& purpose : kPurposes) {
    for (int number = 0; number <= static_cast<int>(ModelTask::MAX); ++number) {
      const auto task = static_cast<ModelTask>(number);
      // One label is as good as several.
      const bool fits = task == ModelTask::none || task == purpose.task ||
                        (purpose.task == ModelTask::score_pairs && task == ModelTask::label_texts);
      CAPTURE(purpose.model, mote::file::EnumNameTask(task));
      TEST_ASSERT_EQUAL_INT(fits ? MOTE_OK : MOTE_CORRUPT_FILE, opened_when(purpose.model, [&](Model* root) {
                              REQUIRE(root->mutable_purpose()->mutate_task(task));
                            }));
    }
  }
}

TEST("a task that this build does not know is a newer file's") {
  const auto unknown = static_cast<ModelTask>(static_cast<int>(ModelTask::MAX) + 1);
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, opened_when("bert", [&](Model* root) {
                          REQUIRE(root->mutable_purpose()->mutate_task(unknown));
                        }));
}

TEST("the token that stands for others is of the vocabulary") {
  for (const int32_t id : {-2, 1 << 24, INT32_MAX})
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened_when("camembert_masked", [&](Model* root) {
                            REQUIRE(root->mutable_purpose()->mutate_mask_id(id));
                          }));
}

TEST("a language is one of the file's, with a code and a token of the vocabulary") {
  const test::AlignedBytes file = test::decoder_file(32, 8, [](mote::convert::Graph& graph, auto) {
    graph.languages = {{"en", 3}, {"eng_Latn", 15}};
  });
  const test::OpenModel model(file);
  int32_t id = -1;
  TEST_ASSERT_EQUAL_STRING("eng_Latn", mote_model_language(model.get(), 1, &id));
  TEST_ASSERT_EQUAL_INT32(15, id);
  TEST_ASSERT_NULL(mote_model_language(model.get(), 2, &id));
  for (const int32_t wrong : {-1, 16, INT32_MAX}) {
    mote_error error{};
    const auto change = [&](Model* root) {
      REQUIRE(root->mutable_purpose()->mutable_languages()->GetMutableObject(1)->mutate_id(wrong));
    };
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE,
                          test::open_changed(test::AlignedBytes(file.data(), file.size()), &error, change));
    TEST_ASSERT_TRUE(test::says(error.text, "language"));
  }
}

TEST("sound is cut into pieces that go on and that memory holds") {
  const auto refused = [](const char* name, float longest, float margin) {
    CAPTURE(name, longest, margin);
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened_when(name, [&](Model* root) {
                            REQUIRE(root->mutable_sound()->mutate_longest(longest));
                            REQUIRE(root->mutable_sound()->mutate_margin(margin));
                          }));
  };
  for (const char* name : {"wav2vec2_ctc", "parakeet_ctc", "parakeet_tdt", "moonshine"}) {
    for (const float longest : {0.0f, -1.0f, 1e-6f, 1e9f, INFINITY, NAN}) refused(name, longest, 0.0f);
    for (const float margin : {-1.0f, 5.0f, INFINITY, NAN}) refused(name, 10.0f, margin);
  }
}

TEST("numbers of tokens and timestamps are those that a text can have") {
  const auto refused = [](const char* name, const std::function<bool(mote::file::Speech*)>& change) {
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE,
                          opened_when(name, [&](Model* root) { REQUIRE(change(root->mutable_speech())); }));
  };
  for (const float most : {0.0f, -1.0f, 1e9f, INFINITY, NAN})
    refused("moonshine", [&](mote::file::Speech* speech) { return speech->mutate_tokens_of_second(most); });
  for (const uint32_t most : {0u, 1u << 20, UINT32_MAX})
    refused("parakeet_tdt", [&](mote::file::Speech* speech) { return speech->mutate_tokens_of_frame(most); });
  for (const uint32_t frames : {0u, 1u << 20, UINT32_MAX})
    refused("whisper", [&](mote::file::Speech* speech) { return speech->mutate_timestamp_frames(frames); });
  refused("whisper", [](mote::file::Speech* speech) { return speech->mutate_latest_first(UINT32_MAX); });
}
