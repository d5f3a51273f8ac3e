// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of sound and pictures are read.
#include "converter/architectures/shared/sound_settings.h"
#include "converter/readers/processor_config.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

/// A directory with these files; null: without.
class ProcessorFiles {
 public:
  ProcessorFiles(const json& processor, const json& preprocessor) {
    if (!processor.is_null()) write_text(folder_ / "processor_config.json", processor.dump());
    if (!preprocessor.is_null()) write_text(folder_ / "preprocessor_config.json", preprocessor.dump());
    source_.directory = folder_.path();
  }
  const Source& source() const { return source_; }

 private:
  TempDirectory folder_;
  Source source_;
};

bool normalizes(const json& processor, const json& preprocessor) {
  const ProcessorFiles files(processor, preprocessor);
  SoundSpec sound;
  read_waveform_settings(files.source(), sound);
  return sound.normalize;
}

std::string whisper_refusal(const json& settings) {
  const ProcessorFiles files({{"feature_extractor", settings}}, nullptr);
  SoundSpec sound;
  sound.fft = 400;
  sound.hop = 160;
  sound.bins = 80;
  sound.frames = 3000;
  return message_of<Error>([&] { check_whisper_settings(files.source(), sound); });
}

}  // namespace

TEST("samples get mean 0 and variance 1 unless the extractor's settings say otherwise, in either file") {
  TEST_ASSERT_TRUE(normalizes({{"feature_extractor", {{"do_normalize", true}}}}, nullptr));
  TEST_ASSERT_TRUE(normalizes({{"feature_extractor", json::object()}}, nullptr));
  TEST_ASSERT_FALSE(normalizes({{"feature_extractor", {{"do_normalize", false}}}}, nullptr));
  TEST_ASSERT_TRUE(normalizes({{"audio_processor", {{"sampling_rate", 16000}}}}, nullptr));
  TEST_ASSERT_TRUE(normalizes(nullptr, {{"sampling_rate", 16000}}));
  TEST_ASSERT_FALSE(normalizes(nullptr, {{"do_normalize", false}}));
  TEST_ASSERT_FALSE(normalizes({{"processor_class", "Wav2Vec2Processor"}}, {{"do_normalize", false}}));
  TEST_ASSERT_FALSE(normalizes(nullptr, nullptr));
}

TEST("settings of both files agree or are refused by name") {
  const json own = {{"image_processor",
                     {{"image_processor_type", "CLIPImageProcessor"}, {"size", {{"shortest_edge", 24}}}}}};
  const ProcessorFiles same(own, {{"image_processor_type", "CLIPImageProcessorFast"}, {"size", 24}});
  TEST_ASSERT_TRUE(contains(read_picture_settings(same.source())->where, "/processor_config.json"));
  const ProcessorFiles other(own, {{"size", 25}});
  const std::string refusal = message_of<Error>([&] { read_picture_settings(other.source()); });
  CAPTURE(refusal);
  TEST_ASSERT_TRUE(contains(refusal, "image_processor.size") && contains(refusal, "has 25"));
  const ProcessorFiles text({{"image_processor", "x"}}, nullptr);
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { read_picture_settings(text.source()); }), "an object"));
  TEST_ASSERT_FALSE(read_sound_settings(same.source())->where.empty());
}

TEST("Whisper's extractor may say what the model takes and nothing else") {
  TEST_ASSERT_EQUAL_STRING("", whisper_refusal({{"feature_extractor_type", "WhisperFeatureExtractor"},
                                                {"n_fft", 400},
                                                {"nb_max_frames", 3000},
                                                {"chunk_length", 30},
                                                {"mel_filters", {{0.0, 1.0}}}}));
  const std::pair<json, const char*> cases[] = {{{{"n_fft", 512}}, "n_fft 512"},
                                                {{{"feature_size", 128}}, "feature_size 128"},
                                                {{{"chunk_length", 20}}, "chunk_length 20"},
                                                {{{"dither", 0.1}}, "dither 0.1"},
                                                {{{"sampling_rate", "x"}}, "sampling_rate"},
                                                {{{"feature_extractor_type", "Other"}}, "Other"}};
  for (const auto& [settings, message] : cases) {
    CAPTURE(message);
    TEST_ASSERT_TRUE(contains(whisper_refusal(settings), message));
  }
}
