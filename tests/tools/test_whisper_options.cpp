// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe with each of Whisper's options beside OpenAI's code on the same weights
// (scripts/make_written_whisper_options).
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

const json& known() {
  static const json all =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/whisper_options.json"));
  return all;
}

const std::string& whisper_of_options() {
  static const std::string path = [] {
    std::vector<int32_t> suppressed = {61, 64, 65, 66, 67}, first = known().at("blank");
    for (const int32_t id : known().at("non_speech")) suppressed.push_back(id);
    first.push_back(60);
    return marked_whisper("whisper_options",
                          {{"suppress_tokens", suppressed}, {"begin_suppress_tokens", first}});
  }();
  return path;
}

}  // namespace

TEST("each of Whisper's options gives the segments that the original finds", "[whisper]") {
  const std::string command = "transcribe " + whisper_of_options() + " " +
                              wav("noise_of_options.wav", noise(48000)) + " --json --temperature 0";
  for (const json& known_case : known().at("cases")) {
    std::string arguments;
    const auto given = [&](const std::string& option) {
      const json& all = known_case.at("arguments");
      return std::find(all.begin(), all.end(), option) != all.end();
    };
    for (const std::string option :
         {"--logprob-threshold", "--compression-threshold", "--no-speech-threshold"})
      if (!given(option)) arguments += " " + option + " none";
    if (!given("--language")) arguments += " --language en";
    for (const std::string one : known_case.at("arguments"))
      if (one != "--temperature" && one != "0") arguments += " '" + one + "'";
    CAPTURE(arguments);
    const json found = assert_json(run(command + arguments)).at("segments");
    const json& expected = known_case.at("segments");
    size_t at = 0;
    for (const json& segment : found) {
      CAPTURE(at, segment.dump());
      REQUIRE(at < expected.size());
      const json& original = expected[at];
      REQUIRE(segment.at("id") == at++);
      REQUIRE(segment.at("tokens") == original.at("tokens"));
      for (const char* key : {"avg_logprob", "no_speech_prob", "compression_ratio", "temperature"})
        TEST_ASSERT_DOUBLE_WITHIN(2e-4, original.at(key).get<double>(), segment.at(key).get<double>());
      // Segments of this command lie within the sound of three seconds; the last is a hop long at least.
      const double begin = std::min(2.99, original.at("start").get<double>());
      TEST_ASSERT_DOUBLE_WITHIN(6e-4, begin, segment.at("start").get<double>());
      const double end = std::min(3.0, original.at("end").get<double>());
      TEST_ASSERT_DOUBLE_WITHIN(6e-4, end, segment.at("end").get<double>());
    }
    TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
  }
}
