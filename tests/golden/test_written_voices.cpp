// SPDX-License-Identifier: Apache-2.0
//
// Voices of tests/written/voices: Piper's form of VITS with both kinds of blocks, one speaker and several,
// and transformers' VITS with several speakers.
#include <fstream>

#include "converter/convert.h"
#include "converter/onnx/piper_graph.h"
#include "host/base/error.h"
#include "mote/text.h"
#include "tests/golden/spoken.h"
#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

namespace fs = std::filesystem;
using test::SafetensorsFile;

constexpr double kTolerance = 2e-5;  // of sums of some 200 numbers below 1, in 32 bits

fs::path folder_of(const std::string& name) { return test::written_folder() / "voices" / name; }

test::AlignedBytes voice(const std::string& name) {
  mote::convert::ConvertOptions options;
  options.type = "f32";
  return test::kept_conversion("voice_" + name, folder_of(name), options);
}

/// Returns what converting a voice says whose bytes `from` became `to` at their first place.
std::string error_with(const std::string& name, const std::string& from, const std::string& to) {
  const mote::testing::TempDirectory directory;
  std::string onnx = mote::testing::read_text(folder_of(name) / (name + ".onnx"));
  const size_t at = onnx.find(from);
  REQUIRE(at != std::string::npos);
  onnx.replace(at, from.size(), to);
  mote::testing::write_text(directory / "v.onnx", onnx);
  fs::copy_file(folder_of(name) / (name + ".onnx.json"), directory / "v.onnx.json");
  mote::convert::ConvertOptions options;
  options.type = "f32";
  return mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory / "v.onnx", directory / "out.mote", options); });
}

}  // namespace

TEST("written: voices of Piper's and of several speakers say what torch computes") {
  for (const std::string name : {"piper", "piper_speakers", "hf_speakers"}) {
    CAPTURE(name);
    const SafetensorsFile golden(folder_of(name) / "golden.safetensors");
    const test::AlignedBytes bytes = voice(name);
    const test::OpenModel model(bytes);
    for (const mote_isa isa : test::all_families()) {
      CAPTURE(mote_isa_name(isa));
      for (const std::string prefix : {"", "noisy."}) {
        if (!golden.has(prefix + "waveform")) continue;
        CAPTURE(prefix);
        const test::Spoken spoken = test::say(model, isa, golden, prefix);
        if (golden.has(prefix + "durations")) REQUIRE(spoken.durations == golden.i64(prefix + "durations"));
        test::expect_spoken_near(golden, prefix + "waveform", spoken.waveform, kTolerance);
      }
    }
  }
}

TEST("written: a voice names its speakers, and speaks as the default one where none is chosen") {
  const test::AlignedBytes bytes = voice("piper_speakers");
  const test::OpenModel model(bytes);
  mote_voice_info info;
  mote_model_get_voice(model.get(), &info);
  TEST_ASSERT_EQUAL_UINT32(3, info.speakers);
  TEST_ASSERT_EQUAL_STRING("p0", mote_model_speaker(model.get(), 0));
  TEST_ASSERT_EQUAL_STRING("p2", mote_model_speaker(model.get(), 2));
  REQUIRE(mote_model_speaker(model.get(), 3) == nullptr);
  TEST_ASSERT_EQUAL_STRING("en-us", mote_model_phonemes(model.get()));
  TEST_ASSERT_EQUAL_UINT32(0, mote_speak_options_default(model.get()).speaker);
  const test::AlignedBytes other_bytes = voice("hf_speakers");
  const test::OpenModel other(other_bytes);
  REQUIRE(mote_model_phonemes(other.get()) == nullptr);
  REQUIRE(mote_model_speaker(other.get(), 0) == nullptr);
}

TEST("written: a speaker that a voice does not have is refused") {
  const test::AlignedBytes bytes = voice("piper_speakers");
  const test::OpenModel model(bytes);
  const test::OpenSession session(model, test::spoken_options(model, MOTE_ISA_AUTO));
  mote_speak_options speaking = mote_speak_options_default(model.get());
  speaking.speaker = 3;
  const test::AlignedBytes memory(mote_speak_bytes(session.get()));
  mote_utterance* utterance = nullptr;
  mote_error error{};
  const int32_t id = 1;
  REQUIRE(mote_speak_begin(session.get(), &id, 1, &speaking, memory.data(), memory.size(), &utterance,
                           &error) == MOTE_INVALID_ARGUMENT);
  TEST_ASSERT_EQUAL_STRING("speaker 3; this model has 0 to 2", error.text);
}

TEST("written: a voice's graph that computes otherwise is refused by name") {
  struct Change {
    const char *from, *to, *words;
  };
  for (const Change& change :
       {Change{"\x22\x08Softplus", "\x22\x08Softsign", "it has 2 Softplus, the model has 3"},
        {"\x22\x0bLessOrEqual", "\x22\x0bGreatrEqual", "it has GreatrEqual, which the model has not"},
        {"\x1a\x18/dec/ups.0/ConvTranspose", "\x1a\x18/dec/ubs.0/ConvTranspose",
         "its blocks do not fit its stages"},
        {"/dec/conv_pre/Conv_output_0", "/dec/conv_pre/Conv_output_9", "which nothing makes"},
        {"alpha\x15\xcd\xcc\xcc\x3d", "alpha\x15\xcd\xcc\x4c\x3e", "the slope of"}}) {
    CAPTURE(change.from);
    const std::string said = error_with("piper", change.from, change.to);
    CAPTURE(said);
    REQUIRE(said.find(change.words) != std::string::npos);
  }
}

TEST("written: a damaged voice is read or refused with a sentence, in the memory that it takes itself") {
  const std::string whole = mote::testing::read_text(folder_of("piper") / "piper.onnx");
  const mote::testing::TempDirectory directory;
  fs::copy_file(folder_of("piper") / "piper.onnx.json", directory / "v.onnx.json");
  uint64_t seed = 1;
  const auto draw = [&](size_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(seed >> 33) % below;
  };
  size_t refused = 0;
  for (int turn = 0; turn < 300; ++turn) {
    CAPTURE(turn);
    std::string damaged = whole;
    for (int i = 0; i < 4; ++i) damaged[draw(damaged.size())] = static_cast<char>(draw(256));
    if (turn % 3 == 0) damaged.resize(draw(damaged.size()));
    mote::testing::write_text(directory / "v.onnx", damaged);
    try {
      mote::convert::read_source(directory / "v.onnx");
    } catch (const mote::convert::Error& error) {
      REQUIRE(!std::string(error.what()).empty());
      ++refused;
    }
  }
  REQUIRE(refused >= 100);  // those that are cut
}

TEST("written: names of Piper's training code become Hugging Face's") {
  using mote::convert::piper_to_hf;
  TEST_ASSERT_EQUAL_STRING("text_encoder.encoder.layers.3.attention.q_proj.bias",
                           piper_to_hf("enc_p.encoder.attn_layers.3.conv_q.bias").c_str());
  TEST_ASSERT_EQUAL_STRING("duration_predictor.flows.2.conv_dds.convs_dilated.1.weight",
                           piper_to_hf("dp.flows.3.convs.convs_sep.1.weight").c_str());
  TEST_ASSERT_EQUAL_STRING("duration_predictor.conv_dds.norms_1.0.weight",
                           piper_to_hf("dp.convs.norms_1.0.gamma").c_str());
  TEST_ASSERT_EQUAL_STRING("flow.flows.1.wavenet.in_layers.0",
                           piper_to_hf("flow.flows.2.enc.in_layers.0").c_str());
  TEST_ASSERT_EQUAL_STRING("decoder.resblocks.5.convs2.1", piper_to_hf("dec.resblocks.5.convs2.1").c_str());
  TEST_ASSERT_EQUAL_STRING("", piper_to_hf("flow.flows.1.enc").c_str());
  TEST_ASSERT_EQUAL_STRING("", piper_to_hf("decoder.conv_pre").c_str());
}
