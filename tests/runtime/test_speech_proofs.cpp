// SPDX-License-Identifier: Apache-2.0
//
// What the tools take from a file that hears is proved when the file is opened.
#include "mote/sound.h"
#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

namespace {

using mote::file::Model;

void refused_when(const char* name, const std::function<void(Model*)>& change) {
  const test::AlignedBytes& file = test::golden_file(name, "f32");
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, test::open_changed(test::AlignedBytes(file.data(), file.size()), &error, [](Model*) {}));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE,
                        test::open_changed(test::AlignedBytes(file.data(), file.size()), &error, change));
}

}  // namespace

TEST("a transducer's blank is one of the labels besides durations, and its source makes the frames") {
  const test::OpenModel model(test::golden_file("parakeet_tdt", "f32"));
  mote_speech_info speech;
  mote_model_get_speech(model.get(), &speech);
  TEST_ASSERT_TRUE(speech.duration_count != 0);
  const auto labels = static_cast<int32_t>(model.info().vocab - speech.duration_count);
  for (const int32_t blank : {-1, labels, labels + 1})
    refused_when("parakeet_tdt", [blank](Model* root) { REQUIRE(root->mutate_bos_id(blank)); });
  refused_when("parakeet_tdt", [](Model* root) {
    auto* source = root->mutable_programs()->GetMutableObject(1);
    REQUIRE(source->mutate_output_kind(mote::file::OutputKind::masked_token));
  });
}

TEST("where there is a blank, outputs are of labels that all have names") {
  for (const char* name : {"wav2vec2_ctc", "parakeet_ctc"}) {
    refused_when(name, [](Model* root) {
      auto* program = root->mutable_programs()->GetMutableObject(0);
      REQUIRE(program->mutate_output_kind(mote::file::OutputKind::hidden));
    });
  }
}

TEST("the language that texts are in by default is one of those that the file tells apart") {
  refused_when("whisper", [](Model* root) {
    auto* speech = root->mutable_speech();
    REQUIRE(speech->mutate_language(mote::size_of(root->purpose()->languages()) + 1));
  });
}
