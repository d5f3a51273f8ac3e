// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe with a Whisper: the golden one, whose windows are of half a second, and a tokenizer with
// marks of languages, tasks and times.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Ids from 58 on; times are those from 69 on, which have no texts.
const std::vector<std::string> kMarks = {"<58>",
                                         "<59>",
                                         "<|endoftext|>",
                                         "<|startoftranscript|>",
                                         "<|en|>",
                                         "<|de|>",
                                         "<|translate|>",
                                         "<|transcribe|>",
                                         "<|startofprev|>",
                                         "<|nospeech|>",
                                         "<|notimestamps|>"};

const std::string& whisper() {
  static const std::string path = [] {
    const fs::path folder = scratch() / "whisper";
    fs::copy(golden("whisper"), folder, fs::copy_options::recursive);
    json tokenizer = json::parse(
        read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/tokenizers/small/tokenizer.json"));
    for (size_t i = 0; i < kMarks.size(); ++i)
      tokenizer["added_tokens"].push_back(special_token(58 + i, kMarks[i]));
    write_text(folder / "tokenizer.json", tokenizer.dump());
    json config = json::parse(read_text((folder / "config.json").string()));
    config["decoder_start_token_id"] = 61;
    config["eos_token_id"] = 60;
    write_text(folder / "config.json", config.dump());
    write_text(
        folder / "generation_config.json",
        json{{"eos_token_id", 60}, {"is_multilingual", true}, {"suppress_tokens", {58, 59, 61, 66, 67}}}
            .dump());
    std::string file = (folder / "out.mote").string();
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
    return file;
  }();
  return path;
}

/// Three seconds, six windows and more.
const std::string& long_noise() {
  static const std::string path = wav("long_noise.wav", noise(48000));
  return path;
}

}  // namespace

TEST("a Whisper writes segments of a long sound in order, the same from a file and a pipe", "[whisper]") {
  if (!reads_sound(whisper())) return;
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
  if (!reads_sound(whisper())) return;
  const std::string command = "transcribe " + whisper() + " " + long_noise();
  for (const std::string language : {"en", "de"})
    TEST_ASSERT_EQUAL_STRING(
        language,
        assert_json(run(command + " --json --language " + language)).at("language").get<std::string>());
  TEST_ASSERT_TRUE(assert_works(run(command + " --language de")) !=
                   assert_works(run(command + " --language en")));
  assert_fails(run(command + " --language xx"), 1, "does not know the language 'xx'");
}

TEST("a Whisper takes the language and the task of its files where it is told none", "[whisper]") {
  if (!reads_sound(whisper())) return;
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
  if (!reads_sound(whisper())) return;
  const std::string empty = wav("empty.wav", {});
  TEST_ASSERT_EQUAL_STRING("", assert_works(run("transcribe " + whisper() + " " + empty)));
}
