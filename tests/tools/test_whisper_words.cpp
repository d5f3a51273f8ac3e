// SPDX-License-Identifier: Apache-2.0
//
// Times of words beside OpenAI's code on the same weights (scripts/make_written_whisper_words).
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/tasks/sound/time_warp.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"
#include "tools/mote/transcript.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

constexpr double kFrame = 0.02;

const json& words_known() {
  static const json all =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/whisper_words.json"));
  return all;
}

std::string whisper_with_heads(const std::string& name, const json& heads) {
  std::vector<int32_t> first = words_known().at("blank");
  first.push_back(60);
  json generation = {{"suppress_tokens", {61, 64, 65, 66, 67}}, {"begin_suppress_tokens", first}};
  if (!heads.is_null()) generation["alignment_heads"] = heads;
  return marked_whisper(name, generation);
}

std::string with_words(const std::string& file, const std::string& options) {
  return "transcribe " + file + " " + wav("noise_of_words.wav", noise(48000)) + " --words " + options;
}

struct Counts {
  size_t words = 0, near = 0;
};

/// Compares the words of segments, of which times may be a frame apart.
Counts compare(const json& found, const json& expected) {
  Counts counts;
  REQUIRE(found.size() == expected.size());
  for (size_t s = 0; s < found.size(); ++s) {
    REQUIRE(found[s].at("tokens") == expected[s].at("tokens"));
    const json &words = found[s].at("words"), &originals = expected[s].at("words");
    REQUIRE(words.size() == originals.size());
    for (size_t w = 0; w < words.size(); ++w) {
      CAPTURE(words[w].dump(), originals[w].dump());
      REQUIRE(words[w].at("word") == originals[w].at("word"));
      TEST_ASSERT_DOUBLE_WITHIN(1e-3, originals[w].at("probability").get<double>(),
                                words[w].at("probability").get<double>());
      bool near = true;
      for (const char* time : {"start", "end"})
        near = near && std::abs(words[w].at(time).get<double>() - originals[w].at(time).get<double>()) <
                           kFrame + 1e-6;
      counts.near += near;
      ++counts.words;
    }
  }
  return counts;
}

}  // namespace

TEST("words of Whisper and their times are those that the original finds, within a frame", "[words]") {
  Counts all;
  int number = 0;
  for (const json& known : words_known().at("cases")) {
    const std::string file = whisper_with_heads("words" + std::to_string(number++), known.at("heads"));
    std::string options =
        "--json --kv f32 --temperature 0 --logprob-threshold none --compression-threshold none "
        "--no-speech-threshold none";
    bool told = false;
    for (const std::string one : known.at("arguments")) {
      options += " '" + one + "'";
      told = told || one == "--language";
    }
    if (!told) options += " --language en";
    CAPTURE(options);
    const json found = assert_json(run(with_words(file, options))).at("segments");
    const Counts counts = compare(found, known.at("segments"));
    all.words += counts.words;
    all.near += counts.near;
  }
  TEST_ASSERT_GREATER_THAN(400u, all.words);
  CAPTURE(all.words, all.near);
  TEST_ASSERT_TRUE(static_cast<double>(all.near) >= 0.95 * static_cast<double>(all.words));
}

TEST("words have the same bits for any number of threads", "[words]") {
  const std::string file = whisper_with_heads("words_threads", {{0, 1}, {1, 0}});
  const std::string one = assert_works(run(with_words(file, "--json --threads 1")));
  TEST_ASSERT_EQUAL_STRING(one, assert_works(run(with_words(file, "--json --threads 3"))));
  TEST_ASSERT_TRUE(contains(one, "\"words\":[{"));
}

TEST("alignment heads that the model lacks are refused at conversion", "[words]") {
  const auto wrong = [&](const json& heads) {
    static int number = 0;
    const auto folder = scratch() / ("wrong_heads" + std::to_string(number++));
    std::filesystem::copy(golden("whisper"), folder, std::filesystem::copy_options::recursive);
    write_text(folder / "generation_config.json", json{{"alignment_heads", heads}}.dump());
    assert_fails(run("convert " + folder.string() + " -o " + (folder / "out.mote").string()), 1,
                 "pairs of a layer below 2 and a head below 3");
  };
  wrong({{2, 0}});
  wrong({{0, 3}});
  wrong({{0}});
  wrong("1");
}

TEST("lines and subtitles hold as many characters and lines as they may", "[words]") {
  json words = json::array();
  const char* const texts[] = {" One", " two", " three", " four.", " Five"};
  double at = 0;
  for (const char* text : texts) {
    words.push_back({{"word", text}, {"start", at}, {"end", at + 0.5}, {"probability", 1.0}});
    at += 1;
  }
  const json transcript = {{"text", ""},
                           {"segments", {{{"text", ""}, {"start", 0.0}, {"end", 5.0}, {"words", words}}}}};
  TEST_ASSERT_EQUAL_STRING("1\n00:00:00,000 --> 00:00:04,500\nOne two\nthree\nfour.\nFive\n\n",
                           mote::cli::transcript_text(transcript, "srt", {8, {}}));
  TEST_ASSERT_EQUAL_STRING(
      "1\n00:00:00,000 --> 00:00:02,500\nOne two\nthree\n\n2\n00:00:03,000 --> 00:00:04,500\nfour.\nFive\n\n",
      mote::cli::transcript_text(transcript, "srt", {8, 2}));
  TEST_ASSERT_EQUAL_STRING("WEBVTT\n\n00:00:00.000 --> 00:00:04.500\nOne two three four. Five\n\n",
                           mote::cli::transcript_text(transcript, "vtt", {}));
  const std::string file = whisper_with_heads("words_lines", nullptr);
  assert_fails(run("transcribe " + file + " x.wav --srt --max-line-width 10"), 2, "need --words");
  assert_fails(run("transcribe " + file + " x.wav --srt --words --max-line-count 2"), 2,
               "--max-line-count needs --max-line-width");
  const std::string subtitles = assert_works(run(with_words(file, "--vtt --max-line-width 20")));
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(subtitles.rfind("WEBVTT\n\n00:00:0", 0)));
}

TEST("time warping gives each token the frame where the cheapest way comes to it", "[words]") {
  // Token 0 is cheap in frames 0 and 1, token 1 in 2, token 2 in 3 and 4.
  const std::vector<float> costs = {-1, -1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1, 1, -1, -1};
  TEST_ASSERT_TRUE(mote::host::warp_tokens(costs, 3, 5) == std::vector<uint32_t>({0, 2, 3}));
  TEST_ASSERT_TRUE(mote::host::warp_tokens(std::vector<float>{0, 0}, 2, 1) == std::vector<uint32_t>({0, 0}));
}

TEST("shares of frames get mean 0 and variance 1 over tokens, and medians of seven frames", "[words]") {
  // Frames of 1 and 3 become -1 and 1: which token has which is a bit of each frame, so that all orders of
  // seven bits come up; frames before the first and behind the last are those reflected.
  for (uint32_t frames : {1u, 3u, 4u, 7u, 40u}) {
    for (uint32_t seed = 1; seed < 200; ++seed) {
      std::vector<float> shares(2 * frames), bits(frames);
      for (uint32_t i = 0; i < frames; ++i) {
        bits[i] = (seed * 2654435761u >> i % 32 & 1) != 0 ? 1.0f : -1.0f;
        shares[i] = 2.0f + bits[i];
        shares[frames + i] = 2.0f - bits[i];
      }
      mote::host::normalize_shares(shares, 2, frames);
      for (int32_t i = 0; i < static_cast<int32_t>(frames); ++i) {
        float sum = 0;
        for (int32_t k = i - 3; k <= i + 3 && frames > 3; ++k) {
          const int32_t last = static_cast<int32_t>(frames) - 1, at = k < 0      ? -k
                                                                      : k > last ? 2 * last - k
                                                                                 : k;
          sum += bits[static_cast<size_t>(at)];
        }
        const float expected = frames > 3 ? (sum > 0 ? 1.0f : -1.0f) : bits[static_cast<size_t>(i)];
        TEST_ASSERT_FLOAT_WITHIN(1e-6, expected, shares[static_cast<size_t>(i)]);
        TEST_ASSERT_FLOAT_WITHIN(1e-6, -expected, shares[frames + static_cast<size_t>(i)]);
      }
    }
  }
}
