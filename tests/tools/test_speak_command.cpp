// SPDX-License-Identifier: Apache-2.0
//
// mote speak: text, or ids, to a WAV.
#include <cstring>

#include "converter/readers/safetensors.h"
#include "host/media/sound_file.h"
#include "host/tasks/sound/speaker.h"
#include "tests/tools/command.h"
#include "tests/tools/hearers.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The golden voice with letters for its tokens; 0 is the blank.
const std::string& voice() {
  static const std::string path = [] {
    const fs::path folder = scratch() / "voice";
    fs::copy(golden("vits"), folder, fs::copy_options::recursive);
    json vocab = {{"<pad>", 0}, {" ", 27}};
    for (int id = 1; id < 27; ++id) vocab[std::string(1, static_cast<char>('a' + id - 1))] = id;
    write_text(folder / "vocab.json", vocab.dump());
    write_text(folder / "tokenizer_config.json",
               json{{"tokenizer_class", "VitsTokenizer"}, {"phonemize", false}}.dump());
    const std::string file = (scratch() / "voice.mote").string();
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
    return file;
  }();
  return path;
}

std::string spoken(const std::string& arguments) {
  const std::string wav = (scratch() / "spoken.wav").string();
  assert_works(run("speak " + voice() + " " + arguments + " -o " + wav));
  return read_text(wav);
}

uint32_t number_at(const std::string& wav, size_t at) {
  uint32_t number = 0;
  std::memcpy(&number, wav.data() + at, sizeof number);
  return number;
}

}  // namespace

TEST("a Kokoro is refused by name, by its config and by its graph", "[speak]") {
  const fs::path folder = scratch() / "kokoro";
  fs::create_directory(folder);
  const std::string out = (scratch() / "kokoro.mote").string();
  fs::copy(fs::path(golden("vits")) / "model.safetensors", folder / "model.safetensors");
  for (const json& config : {json{{"istftnet", json::object()}, {"plbert", json::object()}, {"n_token", 178}},
                             json{{"model_type", "style_text_to_speech_2"}}}) {
    write_text(folder / "config.json", config.dump());
    assert_fails(run("convert " + folder.string() + " -o " + out), 1, "Kokoro (StyleTTS 2), which is not");
  }
  // A graph of one operator that takes tokens, a style and a speed.
  const auto field = [](int number, const std::string& content) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
  };
  std::string graph = field(1, field(1, "tokens") + field(2, "y") + field(4, "Identity"));
  for (const std::string name : {"tokens", "style", "speed"}) graph += field(11, field(1, name));
  graph += field(12, field(1, "y"));
  const fs::path onnx = scratch() / "kokoro-v1.0.onnx";
  write_text(onnx, std::string("\x08\x08", 2) + field(7, graph) + field(8, std::string("\x10\x11", 2)));
  assert_fails(run("convert " + onnx.string() + " -o " + out), 1, "Kokoro (StyleTTS 2), which is not");
  TEST_ASSERT_FALSE(fs::exists(out));
}

TEST("speak writes a WAV of the model's rate, the same for the same seed", "[speak]") {
  const std::string wav = spoken("-p 'Hello, world'");
  TEST_ASSERT_EQUAL_STRING("RIFF", wav.substr(0, 4).c_str());
  TEST_ASSERT_EQUAL_UINT32(wav.size() - 8, number_at(wav, 4));
  TEST_ASSERT_EQUAL_UINT32(16000, number_at(wav, 24));
  TEST_ASSERT_EQUAL_UINT32(wav.size() - 44, number_at(wav, 40));
  TEST_ASSERT_GREATER_OR_EQUAL(44 + 2 * 8 * 23u, wav.size());  // a frame for each letter and blank
  TEST_ASSERT_TRUE(wav == spoken("-p 'hello world'"));
  TEST_ASSERT_FALSE(wav == spoken("-p 'hello world' --seed 7"));
  TEST_ASSERT_GREATER_THAN(wav.size(), spoken("-p 'hello world' --speed 0.5").size());
  TEST_ASSERT_TRUE(spoken("-p ab") == spoken("--ids 0,1,0,2,0"));
}

TEST("speak gives standard output the samples alone, as they are made", "[speak]") {
  const std::string wav = spoken("-p 'hello world'");
  TEST_ASSERT_TRUE(assert_works(run("speak " + voice() + " -p 'hello world' -o -")) == wav.substr(44));
}

TEST("speak takes a speaker by number or name, and other noise", "[speak]") {
  const std::string file = (scratch() / "speakers.mote").string();
  assert_works(
      run("convert " + std::string(MOTE_SOURCE_DIR) + "/tests/written/voices/piper_speakers -o " + file));
  const auto said = [&](const std::string& arguments) {
    return assert_works(run("speak " + file + " --ids 1,0,16,0,13,0,2 -o - " + arguments));
  };
  const std::string first = said("");
  TEST_ASSERT_TRUE(first == said("--speaker 0"));
  TEST_ASSERT_TRUE(first == said("--speaker p0"));
  TEST_ASSERT_FALSE(first == said("--speaker p2"));
  TEST_ASSERT_TRUE(said("--speaker 2") == said("--speaker p2"));
  TEST_ASSERT_TRUE(said("--noise 0 --duration-noise 0 --seed 1") ==
                   said("--noise 0 --duration-noise 0 --seed 2"));
  TEST_ASSERT_TRUE(said("") != said("--noise 0"));
  assert_fails(run("speak " + file + " --ids 1 -o - --speaker p9"), 1, "there are 0 to 2: p0, p1, p2");
  assert_fails(run("speak " + voice() + " --ids 1 -o - --speaker 1"), 1, "there is one, 0");
  assert_fails(run("speak " + voice() + " -p a -o - --phonemes"), 1, "says texts, not phonemes");
  TEST_ASSERT_TRUE(
      assert_works(run("speak " + file + " --phonemes -p 'ab' -o - --noise 0 --duration-noise 0")) ==
      assert_works(run("speak " + file + " --ids 1,0,9,0,10,0,2 -o - --noise 0 --duration-noise 0")));
}

TEST("speak writes a FLAC by the name, and refuses other endings", "[speak]") {
  assert_fails(run("speak " + voice() + " -p a -o " + (scratch() / "a.mp3").string()), 1,
               "its name ends in none of .wav");
#ifdef MOTE_WRITES_FLAC
  const std::string flac = (scratch() / "a.FLAC").string();
  assert_works(run("speak " + voice() + " -p 'hello world' -o " + flac));
  TEST_ASSERT_EQUAL_STRING("fLaC", read_text(flac).substr(0, 4).c_str());
  const std::string wav = spoken("-p 'hello world'");
  const auto decoded = mote::cli::open_sound(flac), plain = mote::cli::open_sound(as_bytes(wav));
  std::vector<float> samples(wav.size()), expected(wav.size());
  samples.resize(decoded->read(samples));
  expected.resize(plain->read(expected));
  TEST_ASSERT_EQUAL_UINT32(16000, decoded->rate());
  TEST_ASSERT_EQUAL_UINT32((wav.size() - 44) / 2, samples.size());
  REQUIRE(samples == expected);
#endif
}

TEST("a text that is too long for one file whatever its durations is refused before anything is said",
     "[speak]") {
  const Opened opened(voice());
  mote_voice_info info;
  mote_model_get_voice(opened.model->get(), &info);
  const auto take = [&](uint64_t most) {
    return mote::host::fitting_lines(*opened.model, mote::host::SpokenLines({{1, 2, 3}, {4, 5}}), most,
                                     "a.wav");
  };
  REQUIRE(take(5 * info.hop).ok());
  const auto refused = take(5 * info.hop - 1);
  REQUIRE(!refused.ok());
  TEST_ASSERT_TRUE(contains(refused.status().text(), "a.wav: the text is too long for one file"));
  auto kept = take(5 * info.hop);
  size_t tokens = 0;
  for (auto ids = kept->next(); ids.ok() && *ids; ids = kept->next()) tokens += (**ids).size();
  TEST_ASSERT_EQUAL_UINT64(5, tokens);
}

TEST("a file that cannot be written ends what is said, and nothing of it stays", "[speak]") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "hello world\n";
  const fs::path folder = scratch() / "full";
  fs::create_directory(folder);
  for (const std::string name : {"a.wav", "a.flac"}) {
#ifndef MOTE_WRITES_FLAC
    if (name == "a.flac") continue;
#endif
    const std::string command = "speak " + voice() + " -o " + (folder / name).string() + " -p '" + text + "'";
    assert_fails(run(command, "trap '' XFSZ; ulimit -f 8;"), 1, "cannot write " + (folder / name).string());
    TEST_ASSERT_TRUE(fs::is_empty(folder));
  }
  assert_fails(run("speak " + voice() + " -p a -o /nowhere/a.wav"), 1, "/nowhere/a.wav");
}

TEST("speak says what is wrong and writes nothing then", "[speak]") {
  const std::string wav = (scratch() / "unsaid.wav").string(), command = "speak " + voice() + " -o " + wav;
  assert_fails(run(command), 2, "no text");
  assert_fails(run(command + " -p '?!'"), 1, "nothing that the model can say");
  assert_fails(run(command + " --ids 99"), 1, "99");
  assert_fails(run(command + " --ids ''"), 2, "--ids: no ids");
  assert_fails(run(command + " -p a --speed 0"), 2, "--speed");
  assert_fails(run("speak " + converted("bert", "f32") + " -p a -o " + wav), 1, "does not speak");
  TEST_ASSERT_FALSE(fs::exists(wav));
}
