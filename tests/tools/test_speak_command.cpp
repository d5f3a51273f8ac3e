// SPDX-License-Identifier: Apache-2.0
//
// mote speak: text, or ids, to a WAV.
#include <cstring>

#include "converter/readers/safetensors.h"
#include "tests/tools/command.h"

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
  TEST_ASSERT_TRUE(assert_works(run("speak " + voice() + " -p 'hello world' -o -")) == wav);
}

TEST("speak says what is wrong and writes nothing then", "[speak]") {
  const std::string wav = (scratch() / "none.wav").string(), command = "speak " + voice() + " -o " + wav;
  assert_fails(run(command), 2, "no text");
  assert_fails(run(command + " -p '?!'"), 1, "nothing that the model can say");
  assert_fails(run(command + " --ids 99"), 1, "99");
  assert_fails(run(command + " -p a --speed 0"), 2, "--speed");
  assert_fails(run("speak " + converted("bert", "f32") + " -p a -o " + wav), 1, "does not speak");
  TEST_ASSERT_FALSE(fs::exists(wav));
}
