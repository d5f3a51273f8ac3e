// SPDX-License-Identifier: Apache-2.0
//
// Guesses over sources: translations, summaries and transcripts are the same with them and without.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "converter/readers/safetensors.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"

using namespace mote::testing;
using mote::convert::SafetensorsFile;
using nlohmann::json;

namespace {

/// Ids of a source that says the same thing again and again.
std::string repeating_source() {
  std::string ids = "11";
  for (int i = 0; i < 20; ++i) ids += i % 3 == 0 ? ",17" : i % 3 == 1 ? ",30" : ",44";
  return ids;
}

const std::string& heard_whisper() {
  static const std::string path =
      marked_whisper("guessing_whisper", {{"suppress_tokens", {58, 59, 61, 66, 67}}});
  return path;
}

std::string heard_noise() { return wav("guessed_noise.wav", noise(48000)); }

/// A transcript without what became of the guesses, which goes to *guesses.
json transcript(const std::string& options, json* guesses = nullptr) {
  json all = assert_json(run("transcribe " + heard_whisper() + " " + heard_noise() + " --json " + options));
  if (guesses != nullptr) *guesses = all.at("speculation");
  all.erase("speculation");
  return all;
}

}  // namespace

TEST_CASE("translate: a greedy search finds the same with guesses, whatever it is told to avoid") {
  int stood = 0;
  for (const char* name : {"marian", "t5", "bart", "pegasus", "m2m_100", "umt5"}) {
    CAPTURE(name);
    const std::string command = "translate " + converted(name, "q8g32") + " --json --beams 1 -n 24 --ids " +
                                repeating_source() + " --speculate ";
    const json off = assert_json(run(command + "off"));
    TEST_ASSERT_EQUAL_STRING("switched off", off.at("speculation").at("off").get<std::string>());
    for (const char* how : {"lookup", "auto", "lookup --speculate-match 1 --speculate-max 3"}) {
      CAPTURE(how);
      const json on = assert_json(run(command + how));
      TEST_ASSERT_TRUE(on.at("hypotheses") == off.at("hypotheses"));
      const json& guesses = on.at("speculation");
      TEST_ASSERT_FALSE(guesses.contains("off"));
      TEST_ASSERT_TRUE(guesses.at("rows").get<int>() ==
                       guesses.at("runs").get<int>() + guesses.at("drafted").get<int>());
      stood += guesses.at("stood").get<int>();
    }
  }
  TEST_ASSERT_GREATER_THAN(20, stood);
}

TEST_CASE("translate: a search of several beams says why it has no guesses") {
  const json found =
      assert_json(run("translate " + converted("marian", "f32") + " --json --beams 3 -n 8 --ids " +
                      repeating_source() + " --speculate lookup"));
  TEST_ASSERT_TRUE(contains(found.at("speculation").at("off").get<std::string>(), "several beams"));
  const json plain = assert_json(
      run("translate " + converted("marian", "f32") + " --json --beams 3 -n 8 --ids " + repeating_source()));
  TEST_ASSERT_FALSE(plain.contains("speculation"));
  TEST_ASSERT_TRUE(plain.at("hypotheses") == found.at("hypotheses"));
  TEST_ASSERT_EQUAL_INT(2,
                        run("translate " + converted("marian", "f32") + " --ids 5 --speculate draft").code);
}

TEST_CASE("transcribe: a Whisper writes the same with guesses, its own or a draft's", "[whisper]") {
  const std::string folder = std::filesystem::path(heard_whisper()).parent_path().string();
  const std::string small = folder + "/small.mote";
  assert_works(run("convert " + folder + " -o " + small + " --type q8"));
  int stood = 0;
  for (const char* way : {"", "--no-timestamps", "--temperature 0.4", "--temperature 0.7 --best-of 3",
                          "--beams 2", "--words", "--no-condition --prompt 'the cat'"}) {
    CAPTURE(way);
    const json off = transcript(std::string(way) + " --speculate off");
    for (const std::string& how :
         {std::string("--speculate lookup --speculate-match 1"), std::string("--speculate auto"),
          "--speculate draft --draft " + heard_whisper(), "--draft " + small,
          "--speculate draft --speculate-max 2 --draft " + small}) {
      CAPTURE(how);
      json guesses;
      TEST_ASSERT_TRUE(transcript(std::string(way) + " " + how, &guesses) == off);
      stood += guesses.at("stood").get<int>();
    }
  }
  TEST_ASSERT_GREATER_THAN(50, stood);
}

TEST_CASE("transcribe: a search of several beams says why it has no guesses", "[whisper]") {
  json guesses;
  transcript("--beams 3 --speculate auto", &guesses);
  TEST_ASSERT_TRUE(contains(guesses.at("off").get<std::string>(), "several beams"));
}

TEST_CASE("transcribe: a draft that is the model itself is right, by Whisper's rules", "[whisper]") {
  json guesses;
  transcript("--speculate draft --temperature 0 --draft " + heard_whisper(), &guesses);
  TEST_ASSERT_GREATER_THAN(20, guesses.at("drafted").get<int>());
  // Behind the token that ends a text none is picked.
  TEST_ASSERT_TRUE(guesses.at("stood").get<int>() * 10 > guesses.at("drafted").get<int>() * 8);
}

TEST_CASE("transcribe: a draft that is for another task or hears otherwise is refused", "[whisper]") {
  const std::string command = "transcribe " + heard_whisper() + " " + heard_noise();
  assert_fails(run(command + " --draft " + converted("llama", "f32")), 1, "is for another task");
  assert_fails(run(command + " --speculate draft"), 2, "--speculate draft needs --draft");
  assert_fails(run(command + " --draft /nowhere/small.mote"), 1, "/nowhere/small.mote");
}
