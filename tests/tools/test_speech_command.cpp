// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe with Speech2Text: the golden model with pieces and features, against the texts that
// transformers' extractor, search and tokenizer give (scripts/make_known_speech).
#include <cmath>

#include "tests/support/speech_files.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The golden model with the files of a case.
fs::path folder_of(const json& one, const std::string& name) {
  const fs::path folder = scratch() / name;
  fs::copy(golden("speech_to_text"), folder, fs::copy_options::recursive);
  write_speech_files(one, folder);
  return folder;
}

std::string file_of(const fs::path& folder) {
  std::string file = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  return file;
}

/// A model that searches with beams.
const std::string& searcher() {
  static const std::string path = file_of(folder_of(known_speech("beams"), "searcher"));
  return path;
}

}  // namespace

TEST("Speech2Text writes down what the original does of a WAV file, for each setting of its files",
     "[speech]") {
  int number = 0;
  for (const json& one : known_speech().at("cases")) {
    CAPTURE(one.at("name").get<std::string>());
    const std::string name = "speech" + std::to_string(number++);
    const std::string file = file_of(folder_of(one, name)),
                      sound = wav(name + ".wav", noise(one.at("samples")));
    TEST_ASSERT_EQUAL_STRING(one.at("text").get<std::string>() + "\n",
                             assert_works(run("transcribe " + file + " " + sound)));
    const json all = assert_json(run("transcribe " + file + " " + sound + " --json"));
    TEST_ASSERT_EQUAL_STRING(one.at("text").get<std::string>(), all.at("text").get<std::string>());
    TEST_ASSERT_TRUE(all.at("segments").at(0).at("end") == one.at("samples").get<double>() / 16000);
  }
}

TEST("Speech2Text begins with the language that the command names in place of the file's", "[speech]") {
  json one = known_speech("a language first");
  const std::string sound = wav("language.wav", noise(one.at("samples")));
  one.at("files").at("generation_config.json").erase("forced_bos_token_id");
  const std::string file = file_of(folder_of(one, "languages"));
  TEST_ASSERT_TRUE(one.at("text").get<std::string>() + "\n" !=
                   assert_works(run("transcribe " + file + " " + sound)));
  TEST_ASSERT_EQUAL_STRING(one.at("text").get<std::string>() + "\n",
                           assert_works(run("transcribe " + file + " " + sound + " --to fr")));
  assert_fails(run("transcribe " + file + " " + sound + " --to xx"), 1, "no language 'xx'");
}

TEST("Speech2Text reads a sound that is longer than its context in stretches, each as if it were all",
     "[speech]") {
  const std::vector<int16_t> samples = noise(40000);  // three contexts of 72 frames and more
  const std::string sound = wav("longer.wav", samples);
  const json segments = assert_json(run("transcribe " + searcher() + " " + sound + " --json")).at("segments");
  TEST_ASSERT_GREATER_THAN(3u, segments.size());
  long end = 0;
  for (const json& segment : segments) {
    const auto at = [&](const char* key) { return std::lround(segment.at(key).get<double>() * 16000); };
    TEST_ASSERT_TRUE(at("begin") == end && at("end") <= end + 71 * 160 + 400);
    end = at("end");
    const std::string part = wav("part.wav", {samples.begin() + at("begin"), samples.begin() + end});
    TEST_ASSERT_EQUAL_STRING(segment.at("text").get<std::string>() + "\n",
                             assert_works(run("transcribe " + searcher() + " " + part)));
  }
  TEST_ASSERT_TRUE(end == 40000);
}

TEST("Speech2Text says that silence, no sound and less than a frame have nothing to hear", "[speech]") {
  const auto none = run("transcribe " + searcher() + " " + wav("none.wav", {}));
  TEST_ASSERT_EQUAL_STRING("", assert_works(none));
  TEST_ASSERT_TRUE(contains(none.err, "there is no sound in it") && !contains(none.err, "nothing to hear"));
  for (const std::string& sound : {wav("silent.wav", std::vector<int16_t>(8000)),
                                   wav("short.wav", noise(399)), wav("frame.wav", noise(400))}) {
    CAPTURE(sound);
    const Outcome outcome = run("transcribe " + searcher() + " " + sound);
    TEST_ASSERT_EQUAL_STRING("", assert_works(outcome));
    TEST_ASSERT_TRUE(contains(outcome.err, "nothing to hear"));
  }
}

TEST("Speech2Text without its features or its tokenizer transcribes nothing and says what is missing",
     "[speech]") {
  const std::string sound = wav("missing.wav", noise(8000));
  const fs::path folder = folder_of(known_speech("beams"), "missing");
  fs::rename(folder / "preprocessor_config.json", folder / "other.json");
  assert_fails(run("transcribe " + file_of(folder) + " " + sound), 1, "preprocessor_config.json");
  fs::rename(folder / "other.json", folder / "preprocessor_config.json");
  const std::string file = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32 --no-tokenizer"));
  assert_fails(run("transcribe " + file + " " + sound), 1, "tokenizer");
  assert_fails(run("transcribe " + searcher() + " " + sound + " --language en"), 1, "are for Whisper");
  assert_fails(run("transcribe " + converted("wav2vec2_ctc", "f32") + " " + sound + " --to fr"), 1,
               "--to is for Speech2Text");
}
