// SPDX-License-Identifier: Apache-2.0
//
// mote embed --sound: means of hidden states, beside transformers' (scripts/make_written_sound_vectors).
#include <algorithm>
#include <cmath>

#include "tests/tools/command.h"
#include "tests/tools/hearers.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

std::string encoder_file(const std::string& model) {
  return model == "whisper" ? whisper_file() : converted(model, "f32");
}

std::string sound_of(size_t samples) {
  return wav("vector" + std::to_string(samples) + ".wav", noise(samples));
}

}  // namespace

TEST("a sound's vector is the mean of the hidden states that transformers gives of it", "[sound_vectors]") {
  const json known =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/vectors.json"));
  for (const json& one : known.at("cases")) {
    const std::string model = one.at("model");
    const size_t samples = one.at("samples");
    CAPTURE(model, samples);
    const std::string sound = sound_of(samples);
    const json found = assert_json(run("embed " + encoder_file(model) + " --sound " + sound));
    TEST_ASSERT_EQUAL_STRING(sound, found.at("sound").get<std::string>());
    const std::vector<float> expected = one.at("vector"), vector = found.at("embedding");
    TEST_ASSERT_EQUAL_UINT64(expected.size(), vector.size());
    float largest = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      TEST_ASSERT_FLOAT_WITHIN(2e-3, expected[i], vector[i]);
      largest = std::max(largest, std::fabs(expected[i]));
    }
    TEST_ASSERT_TRUE(largest > 0.1f);
  }
}

TEST("vectors of several sounds are those of each alone, also in a NumPy file", "[sound_vectors]") {
  for (const std::string model : {"whisper", "hubert"}) {
    CAPTURE(model);
    const std::string command = "embed " + encoder_file(model) + " --sound ";
    std::string lines;
    for (const size_t samples : {4000u, 9000u, 5000u})
      lines += assert_works(run(command + sound_of(samples)));
    const std::string all = sound_of(4000) + " --sound " + sound_of(9000) + " --sound " + sound_of(5000);
    TEST_ASSERT_EQUAL_STRING(lines, assert_works(run(command + all)));
    const std::string npy = (scratch() / (model + ".npy")).string();
    assert_works(run(command + all + " --npy " + npy));
    TEST_ASSERT_TRUE(contains(read_text(npy), "'shape': (3, "));
  }
}

TEST("texts, pictures, prompts and models without hidden states are refused where sounds are embedded",
     "[sound_vectors]") {
  const std::string sound = sound_of(4000), whisper = "embed " + whisper_file();
  assert_fails(run(whisper), 2, "takes sounds: --sound FILE");
  assert_fails(run(whisper + " --image a.png"), 2, "takes sounds, not pictures");
  assert_fails(run(whisper + " --sound " + sound + " --prompt a"), 2, "are for texts");
  for (const char* option : {" --prompt-name query", " --truncate", " --file lines.txt", " --empty skip"})
    assert_fails(run(whisper + " --sound " + sound + option), 2, "are for texts");
  assert_fails(run(whisper + " --sound " + sound + " --resume --npy a.npy"), 2, "--resume is for lines");
  assert_fails(run(whisper + " --sound " + wav("no_samples.wav", {})), 1, "too short for the model");
  assert_fails(run("embed " + converted("hubert", "f32") + " --sound " + wav("ten.wav", noise(10))), 1,
               "too short for the model");
  assert_fails(run("embed " + converted("wav2vec2_ctc", "f32") + " --sound " + sound), 1,
               "gives no vectors of sound");
  assert_fails(run("embed " + converted("mpnet_sentence", "f32") + " --sound " + sound), 2,
               "takes texts, not sounds");
}

TEST("vectors do not overwrite the sound or the picture that they are of", "[sound_vectors]") {
  const std::string sound = sound_of(4000), before = read_text(sound);
  assert_fails(run("embed " + whisper_file() + " --sound " + sound + " --npy " + sound), 1,
               "would overwrite");
  TEST_ASSERT_TRUE(before == read_text(sound));
  assert_fails(run("embed " + converted("dinov2", "f32") + " --image " + sound + " --npy " + sound), 1,
               "would overwrite");
  TEST_ASSERT_TRUE(before == read_text(sound));
}
