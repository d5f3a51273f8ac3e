// SPDX-License-Identifier: Apache-2.0
//
// CLAP's towers: vectors of sounds and their labels by texts, beside transformers'
// (scripts/make_written_clap).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "host/tasks/sound/decibels.h"
#include "tests/tools/command.h"
#include "tests/tools/hearers.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr uint32_t kClapSoundRate = 48000;

json clap_known() {
  return json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/clap.json"));
}

/// A copy of the golden model, its settings of sound with `changes`; a change to null takes a key away.
fs::path clap_folder(const std::string& name, const json& changes) {
  const fs::path folder = scratch() / name;
  if (fs::exists(folder)) return folder;
  fs::copy(golden("clap"), folder, fs::copy_options::recursive);
  json settings = json::parse(read_text(folder / "preprocessor_config.json"));
  settings.merge_patch(changes);
  write_text(folder / "preprocessor_config.json", settings.dump());
  write_text(folder / "tokenizer.json", letters_tokenizer(26).dump());
  return folder;
}

std::string clap_tower(const std::string& which, const std::string& padding = "repeatpad") {
  const fs::path folder = clap_folder("clap_" + padding, {{"padding", padding}});
  std::string file = (folder / (which + ".mote")).string();
  if (!fs::exists(file))
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32 --tower " + which));
  return file;
}

std::string clap_sound(size_t samples) {
  return wav("clap" + std::to_string(samples) + ".wav", noise(samples), kClapSoundRate);
}

std::string clap_texts(const json& texts) {
  std::string lines;
  for (const std::string text : texts) lines += text + "\n";
  const std::string path = (scratch() / "clap_texts.txt").string();
  write_text(path, lines);
  return path;
}

/// ClapNoise, as the file of sound_of has it.
class ClapNoise : public mote::host::SoundInput {
 public:
  explicit ClapNoise(size_t samples) : samples_(noise(samples)) {}
  mote::host::Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(samples_[at_++]) / 32768.0f;
    return count;
  }
  mote::host::Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::vector<int16_t> samples_;
  size_t at_ = 0;
};

}  // namespace

TEST("CLAP's features are those of its extractor, resized, however a sound is filled up or cut", "[clap]") {
  const json all = clap_known();
  const size_t step = all.at("step");
  for (const json& one : all.at("cases")) {
    const std::string padding = one.at("padding");
    const size_t samples = one.at("samples");
    CAPTURE(samples, padding);
    const mote::convert::MappedFile file(clap_tower("audio", padding));
    auto model = mote::host::Model::open(file.bytes(), "clap");
    REQUIRE(model.ok());
    auto decibels = mote::host::Decibels::make(*model);
    REQUIRE(decibels.ok());
    ClapNoise sound(samples);
    auto found = decibels->of(sound, "noise");
    REQUIRE(found.ok());
    const std::vector<float> expected = one.at("features");
    TEST_ASSERT_EQUAL_UINT64(expected.size(), (found->size() + step - 1) / step);
    for (size_t i = 0; i < expected.size(); ++i)
      TEST_ASSERT_FLOAT_WITHIN(2e-3, expected[i], (*found)[i * step]);
  }
}

TEST("a sound's vector and its labels by texts are those that transformers gives", "[clap]") {
  const json all = clap_known();
  const std::string with_texts =
      " --json --text-model " + clap_tower("text") + " --file " + clap_texts(all.at("texts"));
  for (const json& one : all.at("cases")) {
    const std::string model = clap_tower("audio", one.at("padding")), sound = clap_sound(one.at("samples"));
    CAPTURE(sound, one.at("padding").get<std::string>());
    const json found = assert_json(run("embed " + model + " --sound " + sound));
    const std::vector<float> expected = one.at("vector"), vector = found.at("embedding");
    TEST_ASSERT_EQUAL_UINT64(expected.size(), vector.size());
    for (size_t i = 0; i < expected.size(); ++i) TEST_ASSERT_FLOAT_WITHIN(2e-4, expected[i], vector[i]);
    const json labels = assert_json(run("classify " + model + " --sound " + sound + with_texts)).at("labels");
    TEST_ASSERT_EQUAL_UINT64(all.at("texts").size(), labels.size());
    for (const json& label : labels) {
      const auto at = std::find(all.at("texts").begin(), all.at("texts").end(), label.at("label"));
      REQUIRE(at != all.at("texts").end());
      TEST_ASSERT_FLOAT_WITHIN(
          1e-3, one.at("labels").at(static_cast<size_t>(at - all.at("texts").begin())).get<float>(),
          label.at("probability").get<float>());
    }
  }
}

TEST("the texts' tower embeds texts, behind a prompt too, with vectors of length 1", "[clap]") {
  const std::string path = clap_texts({"DEAF"}), command = "embed " + clap_tower("text") + " --file ";
  const json plain = assert_json(run(command + path));
  const std::vector<float> vector = plain.at("embedding");
  float squares = 0;
  for (const float value : vector) squares += value * value;
  TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, squares);
  const std::vector<float> behind = assert_json(run(command + clap_texts({"AF"}) + " --prompt DE"))
                                        .at("embedding"),
                           whole = assert_json(run(command + clap_texts({"DEAF"}))).at("embedding");
  TEST_ASSERT_TRUE(behind == whole && behind == vector);
}

TEST("a file of 8 bits gives nearly the same vectors of sounds", "[clap]") {
  const fs::path folder = clap_folder("clap_repeatpad", {{"padding", "repeatpad"}});
  const std::string file = (folder / "audio.q8.mote").string(), sound = clap_sound(20000);
  assert_works(run("convert " + folder.string() + " -o " + file + " --type q8 --tower audio"));
  const std::vector<float> exact = assert_json(run("embed " + clap_tower("audio") + " --sound " + sound))
                                       .at("embedding"),
                           rounded = assert_json(run("embed " + file + " --sound " + sound)).at("embedding");
  float cosine = 0;
  for (size_t i = 0; i < exact.size(); ++i) cosine += exact[i] * rounded[i];
  TEST_ASSERT_GREATER_THAN(0.999f, cosine);
  assert_works(run("verify " + file));
}

TEST("what CLAP's towers cannot do with sounds and texts is refused by name", "[clap]") {
  const std::string audio = clap_tower("audio"), text = clap_tower("text"), sound = clap_sound(7),
                    texts = clap_texts({"DEAF"});
  assert_fails(run("embed " + audio + " --sound " + wav("clap_empty.wav", {}, kClapSoundRate)), 1,
               "too short for the model");
  assert_fails(run("classify " + audio + " --sound " + sound), 1, "--text-model compares pictures or sounds");
  assert_fails(run("classify " + audio + " --sound " + sound + " --text-model " + text + " </dev/null"), 1,
               "no texts to compare with");
  assert_fails(run("classify " + audio + " --sound " + sound + " --file " + texts + " --text-model " +
                   converted("mpnet_sentence", "f32")),
               1, "mpnet_sentence");
  assert_fails(run("classify " + converted("clap_audio", "f32") + " --sound " + sound + " --file " + texts +
                   " --text-model " + text),
               1, "does not say how its features are made");
  assert_fails(run("embed " + text + " --sound " + sound), 2, "takes texts, not sounds");
  assert_fails(run("transcribe " + audio + " " + sound), 1, "");
  const fs::path bare = clap_folder("clap_without_settings", json::object());
  fs::remove(bare / "preprocessor_config.json");
  const std::string file = (bare / "audio.mote").string();
  assert_works(run("convert " + bare.string() + " -o " + file + " --type f32 --tower audio"));
  assert_fails(run("embed " + file + " --sound " + sound), 1, "convert it with its preprocessor_config.json");
}

TEST("a scale of cosines that is no number is refused at conversion", "[clap]") {
  const fs::path folder = clap_folder("clap_scale", json::object());
  std::string weights = read_text(folder / "model.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, weights.data(), sizeof header);
  const json names = json::parse(weights.substr(8, header));
  const size_t at = 8 + header + names.at("logit_scale_a").at("data_offsets").at(0).get<size_t>();
  for (const float scale : {1000.0f, std::numeric_limits<float>::quiet_NaN()}) {
    std::memcpy(weights.data() + at, &scale, sizeof scale);
    write_text(folder / "model.safetensors", weights);
    assert_fails(run("convert " + folder.string() + " --tower audio -o " + (folder / "out.mote").string()), 1,
                 "tensor logit_scale_a");
  }
}

TEST("settings of CLAP's extractor that mote does not have are refused at conversion", "[clap]") {
  const std::pair<json, const char*> cases[] = {
      {{{"feature_extractor_type", "ASTFeatureExtractor"}}, "is not ClapFeatureExtractor"},
      {{{"truncation", "fusion"}}, "truncation fusion is not supported; rand_trunc is"},
      {{{"truncation", nullptr}}, "truncation fusion is not supported"},
      {{{"padding", "max_length"}}, "padding max_length is not supported"},
      {{{"feature_size", 64}}, "feature_size 64 is not supported; 8 is"},
      {{{"sampling_rate", 0}}, "sampling_rate"},
      {{{"fft_window_size", 1023}}, "fft_window_size 1023 is not even"},
      {{{"fft_window_size", 8192}}, "fft_window_size"},
      {{{"hop_length", 0}}, "hop_length"},
      {{{"max_length_s", 2}}, "max_length_s 2 makes 201 frames, the model sees 128 at most"},
      {{{"max_length_s", 1.5}}, "max_length_s"},
      {{{"max_length_s", 600}}, "max_length_s"},
      {{{"frequency_min", 14000}}, "frequency_min 14000 and frequency_max 14000"},
      {{{"frequency_max", 30000}}, "frequency_max 30000"},
      {{{"frequency_min", -1}}, "frequency_min -1"},
  };
  size_t number = 0;
  for (const auto& [changes, message] : cases) {
    const fs::path folder = clap_folder("clap_refused_" + std::to_string(number++), changes);
    CAPTURE(message);
    const Outcome outcome =
        run("convert " + folder.string() + " --tower audio -o " + (folder / "out.mote").string());
    assert_fails(outcome, 1, message);
    TEST_ASSERT_TRUE(contains(outcome.err, "preprocessor_config.json"));
    TEST_ASSERT_FALSE(fs::exists(folder / "out.mote"));
  }
}
