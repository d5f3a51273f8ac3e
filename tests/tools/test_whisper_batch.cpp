// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe --batch: windows of a Whisper side by side.
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

const std::string& batched_whisper() {
  static const std::string path =
      marked_whisper("whisper_batch", {{"suppress_tokens", {58, 59, 61, 66, 67}}});
  return path;
}

/// Three seconds, six windows and more.
std::string of_noise() {
  static const std::string sound = wav("noise_of_batches.wav", noise(48000));
  return "transcribe " + batched_whisper() + " " + sound + " --json ";
}

/// Options by which a window is one segment: no token of a time is written, and no window is silent.
std::string windows_whole() {
  std::string options = "--no-timestamps --no-speech-threshold none --suppress -1";
  for (int id = 69; id < 100; ++id) options += "," + std::to_string(id);
  return options + " ";
}

json batch_segments(const std::string& arguments) {
  return assert_json(run(of_noise() + arguments)).at("segments");
}

}  // namespace

TEST("each window of a batch has the segments and numbers that it has alone, whatever the options",
     "[whisper]") {
  for (const std::string options :
       {"", "--temperature 0 --beams 3", "--temperature 0.4 --best-of 3", "--no-timestamps --language de",
        "--temperature 0,0.5 --logprob-threshold 0 --no-speech-threshold none", "--words --temperature 0",
        "--prompt 'a b' --carry-prompt --hotwords cd", "--vad"}) {
    CAPTURE(options);
    const json alone = assert_json(run(of_noise() + "--batch 1 " + options));
    const bool speaks = options != std::string("--vad");  // it takes noise for none
    REQUIRE(alone.at("segments").empty() != speaks);
    for (const std::string others : {"2", "3", "64", "5 --threads 2"}) {
      CAPTURE(others);
      REQUIRE(alone == assert_json(run(of_noise() + options + " --batch " + others)));
    }
  }
}

TEST("the windows of a batch lie side by side over the whole sound, and none is longer than the model's",
     "[whisper]") {
  double end = 0;
  const json segments = batch_segments(windows_whole() + "--batch 4 --temperature 0");
  TEST_ASSERT_GREATER_THAN(5u, segments.size());
  for (const json& segment : segments) {
    CAPTURE(segment.dump());
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, end, segment.at("start").get<double>());
    end = segment.at("end");
    TEST_ASSERT_TRUE(end - segment.at("start").get<double>() <= 0.48);
  }
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3.0, end);
}

TEST("a window of a batch ends where it is quietest in its second half", "[whisper]") {
  std::vector<int16_t> samples = noise(12800);
  for (size_t i = 5600; i < 7200; ++i) samples[i] = static_cast<int16_t>(samples[i] / 64);  // 0.35 s on
  const std::string sound = wav("quiet_in_a_window.wav", samples);
  const json segments = assert_json(run("transcribe " + batched_whisper() + " " + sound +
                                        " --json --batch 2 " + windows_whole()))
                            .at("segments");
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.4, segments.at(0).at("end").get<double>());
}

TEST("a sound of one window has the text of a batch that it has without one", "[whisper]") {
  const std::string one = "transcribe " + batched_whisper() + " " + wav("one_window.wav", noise(7000)) +
                          " --json " + windows_whole();
  const json expected = assert_json(run(one));
  TEST_ASSERT_EQUAL_UINT32(1, expected.at("segments").size());
  REQUIRE(expected == assert_json(run(one + "--batch 4")));
}

TEST("no earlier text stands in front of a batch's windows, and a prompt in front of the first alone",
     "[whisper]") {
  const std::string batch = windows_whole() + "--batch 3 --temperature 0 ";
  const json plain = batch_segments(batch), prompted = batch_segments(batch + "--prompt 'a b c d'"),
             carried = batch_segments(batch + "--prompt 'a b c d' --carry-prompt");
  REQUIRE(plain == batch_segments(batch + "--no-condition"));
  TEST_ASSERT_EQUAL_UINT32(plain.size(), prompted.size());
  TEST_ASSERT_EQUAL_UINT32(plain.size(), carried.size());
  REQUIRE(prompted[0] != plain[0]);
  REQUIRE(prompted[0] == carried[0]);
  bool differs = false;
  for (size_t i = 1; i < plain.size(); ++i) {
    REQUIRE(prompted[i] == plain[i]);
    differs = differs || carried[i] != plain[i];
  }
  REQUIRE(differs);
}

TEST("what a window draws does not depend on the windows before it", "[whisper]") {
  // Temperatures above 0.5 leave no earlier text in front of the next window.
  const std::string options = windows_whole() + "--temperature 0.8 ";
  const json whole = batch_segments(options), rest = batch_segments(options + "--no-condition");
  REQUIRE(whole == rest);
}

TEST("a batch of no windows, of too many, of live sound and of another model than Whisper is refused",
     "[whisper]") {
  assert_fails(run(of_noise() + "--batch 0"), 2, "--batch");
  assert_fails(run(of_noise() + "--batch 65"), 2, "--batch");
  assert_fails(run(of_noise() + "--live --batch 2"), 1, "a live sound comes one stretch after the other");
  const std::string sound = wav("batch_of_ctc.wav", noise(8000));
  assert_fails(run("transcribe " + converted("wav2vec2_ctc", "f32") + " " + sound + " --batch 2"), 1,
               "are for Whisper");
}

#ifndef MOTE_SANITIZED
TEST("a batch for which there is no memory has fewer windows and says how many bytes were missing",
     "[whisper][native]") {
  const json expected = assert_json(run(of_noise() + "--batch 1 --beams 64 --threads 1"));
  bool lowered = false;
  // Somewhere between too little to load the program and enough for all windows.
  for (int mebibytes = 16; mebibytes < 1024 && !lowered; mebibytes += 8) {
    const Outcome outcome = run(of_noise() + "--batch 64 --beams 64 --threads 1",
                                "ulimit -v " + std::to_string(1024 * mebibytes) + ";");
    if (outcome.code != 0) continue;
    lowered =
        contains(outcome.err, "64 windows at once need ") && contains(outcome.err, "which there is not");
    REQUIRE(lowered);
    REQUIRE(expected == assert_json(outcome));
  }
  REQUIRE(lowered);
}
#endif
