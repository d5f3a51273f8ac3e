// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe with a Whisper.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string& whisper() {
  static const std::string path = marked_whisper("whisper", {{"suppress_tokens", {58, 59, 61, 66, 67}}});
  return path;
}

/// Three seconds, six windows and more.
const std::string& long_noise() {
  static const std::string path = wav("long_noise.wav", noise(48000));
  return path;
}

}  // namespace

TEST("a Whisper writes segments of a long sound in order, the same from a file and a pipe", "[whisper]") {
  const std::string command = "transcribe " + whisper() + " ";
  const json all = assert_json(run(command + long_noise() + " --json"));
  TEST_ASSERT_TRUE(all.at("language") == "en" || all.at("language") == "de");
  TEST_ASSERT_GREATER_THAN(2u, all.at("segments").size());
  double begin = 0;
  std::string text;
  for (const json& segment : all.at("segments")) {
    CAPTURE(segment.dump());
    TEST_ASSERT_TRUE(segment.at("begin") >= begin && segment.at("end") > segment.at("begin"));
    TEST_ASSERT_TRUE(segment.at("end") <= 3.5);
    begin = segment.at("begin");
    text += segment.at("text").get<std::string>();
  }
  // The whole is what was decoded, one segment behind the other: spaces are those of its tokens.
  std::string whole = all.at("text");
  for (std::string* one : {&text, &whole}) std::erase(*one, ' ');
  TEST_ASSERT_EQUAL_STRING(text, whole);
  REQUIRE(all == assert_json(run(command + "- --json <" + long_noise())));
  const std::string subtitles = assert_works(run(command + long_noise() + " --vtt"));
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(subtitles.rfind("WEBVTT\n\n00:00:0", 0)));
}

TEST("a Whisper takes the language that it is told, and refuses one that it does not know", "[whisper]") {
  const std::string command = "transcribe " + whisper() + " " + long_noise();
  for (const std::string language : {"en", "de"})
    TEST_ASSERT_EQUAL_STRING(
        language,
        assert_json(run(command + " --json --language " + language)).at("language").get<std::string>());
  TEST_ASSERT_TRUE(assert_works(run(command + " --language de")) !=
                   assert_works(run(command + " --language en")));
  assert_fails(run(command + " --language xx"), 1, "does not know the language 'xx'");
}

TEST("a Whisper takes a language by its English name and in any case, and lists those that it knows",
     "[whisper]") {
  const std::string command = "transcribe " + whisper() + " " + long_noise() + " --json --language ";
  for (const std::string language : {"German", "DE", "german"})
    TEST_ASSERT_EQUAL_STRING("de", assert_json(run(command + language)).at("language").get<std::string>());
  assert_fails(run(command + "french"), 1, "'french'; it knows en, de");
}

TEST("a Whisper tells the languages that may be spoken, the likeliest first", "[whisper]") {
  const std::string command = "transcribe " + whisper() + " " + long_noise() + " --detect-language";
  const json found = assert_json(run(command + " --json"));
  TEST_ASSERT_EQUAL_UINT32(2, found.at("languages").size());
  const json &first = found.at("languages")[0], &second = found.at("languages")[1];
  REQUIRE(found.at("language") == first.at("language"));
  const double likelier = first.at("probability"), other = second.at("probability");
  TEST_ASSERT_TRUE(likelier >= other);
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1.0, likelier + other);
  const std::string text = assert_works(run(command));
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(text.rfind(first.at("language").get<std::string>() + "\t", 0)));
  REQUIRE(found.at("language") ==
          assert_json(run("transcribe " + whisper() + " " + long_noise() + " --json")).at("language"));
  assert_fails(run(command + " --speculate lookup"), 2, "--detect-language says no text");
}

TEST("wrong values of Whisper's options are wrong usage", "[whisper]") {
  const std::string command = "transcribe " + whisper() + " " + long_noise() + " ";
  assert_fails(run(command + "--temperature 0,x"), 2,
               "--temperature: expected numbers between commas, not 'x'");
  assert_fails(run(command + "--temperature 0,"), 2, "nothing stands behind the last comma");
  assert_fails(run(command + "--temperature ''"), 2, "--temperature");
  assert_fails(run(command + "--suppress 1.5"), 2, "--suppress: expected ids between commas, not '1.5'");
  assert_fails(run(command + "--logprob-threshold nan"), 2, "--logprob-threshold: expected a number or none");
  assert_fails(run(command + "--carry-prompt"), 2, "--carry-prompt needs --prompt");
  assert_fails(run(command + "--beams 0"), 2, "--beams");
  assert_fails(run(command + "--suppress 100"), 1, "token 100 is to be suppressed, but ids end at 99");
}

TEST("a prompt that is too long says how much of it is read", "[whisper]") {
  const Outcome output =
      run("transcribe " + whisper() + " " + long_noise() + " --prompt '" + std::string(60, 'a') + "'");
  assert_works(output);
  TEST_ASSERT_TRUE(contains(output.err, "of which the last 25 are read"));
}

TEST("a Whisper takes the language and the task of its files where it is told none", "[whisper]") {
  const fs::path folder = scratch() / "whisper_told";
  fs::copy(fs::path(whisper()).parent_path(), folder, fs::copy_options::recursive);
  json generation = json::parse(read_text(folder / "generation_config.json"));
  generation.update({{"language", "German"}, {"task", "translate"}});
  write_text(folder / "generation_config.json", generation.dump());
  const std::string file = (folder / "told.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  const std::string plain = "transcribe " + whisper() + " " + long_noise() + " --json",
                    told = "transcribe " + file + " " + long_noise() + " --json";
  REQUIRE(assert_json(run(told)) == assert_json(run(plain + " --language de --translate")));
  REQUIRE(assert_json(run(told + " --language en")) ==
          assert_json(run(plain + " --language en --translate")));
}

TEST("a Whisper finds nothing in a sound without samples", "[whisper]") {
  const std::string empty = wav("empty.wav", {});
  TEST_ASSERT_EQUAL_STRING("", assert_works(run("transcribe " + whisper() + " " + empty)));
}
