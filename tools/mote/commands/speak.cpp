// SPDX-License-Identifier: Apache-2.0
//
// mote speak: text to speech.
#include <algorithm>
#include <cmath>
#include <optional>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/speech/speaker.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr double kPause = 0.3;               // seconds between lines
constexpr uint64_t kMostSamples = 1u << 30;  // of a WAV, whose sizes have 32 bits

struct SpeakArguments {
  std::string file, output, text_file;
  std::optional<std::string> prompt, ids;
  uint64_t seed = 0;
  float speed = 0.0f;
  SessionFlags session;
};

void put(std::vector<std::byte>& bytes, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
}

void put(std::vector<std::byte>& bytes, const char (&name)[5]) {
  for (size_t i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(name[i]));
}

/// A WAV of one channel, 16 bits a sample.
std::vector<std::byte> wav_of(const std::vector<float>& samples, uint32_t rate) {
  constexpr uint32_t kSampleBytes = 2, kHeader = 36, kFormat = 16, kPcm = 1, kChannels = 1, kBits = 16;
  const auto data = static_cast<uint32_t>(samples.size() * kSampleBytes);
  std::vector<std::byte> bytes;
  put(bytes, "RIFF");
  put(bytes, kHeader + data, 4);
  put(bytes, "WAVE");
  put(bytes, "fmt ");
  put(bytes, kFormat, 4);
  put(bytes, kPcm, 2);
  put(bytes, kChannels, 2);
  put(bytes, rate, 4);
  put(bytes, rate * kSampleBytes, 4);
  put(bytes, kSampleBytes, 2);
  put(bytes, kBits, 2);
  put(bytes, "data");
  put(bytes, data, 4);
  for (const float sample : samples) {
    const float clipped = std::isfinite(sample) ? std::clamp(sample, -1.0f, 1.0f) : 0.0f;
    put(bytes, static_cast<uint32_t>(std::lround(clipped * 32767.0f)), 2);
  }
  return bytes;
}

/// The utterances' ids: those given, or of each line that says something.
std::vector<std::vector<int32_t>> utterances(const SpeakArguments& arguments, const ModelFile& file,
                                             const mote_session_options& options) {
  if (arguments.ids) {
    const std::vector<int32_t> ids = given_ids(*arguments.ids);
    check_ids(ids, file, "--ids");
    return {ids};
  }
  require_tokenizer(file, "give token ids with --ids 1,2,3 instead");
  mote_session_options small = options;
  small.context = small.chunk = small.logit_rows = 1;
  const Session session(file, small);
  const std::string text = arguments.prompt ? *arguments.prompt : read_text(arguments.text_file);
  std::vector<std::vector<int32_t>> all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<int32_t> ids = tokenize(file, session, text.substr(at, end - at), MOTE_ADD_SPECIAL);
    if (!ids.empty()) all.push_back(std::move(ids));
    at = end + 1;
  }
  return all;
}

void speak_text(const SpeakArguments& arguments) {
  if (!arguments.prompt && !arguments.ids && arguments.text_file.empty())
    usage_fail("no text; give one with -p TEXT or --file FILE");
  const ModelFile file(arguments.file, arguments.session);
  mote_voice_info voice;
  mote_model_get_voice(file.model(), &voice);
  if (voice.rate == 0) convert::fail("{} does not speak", file.path());
  const ThreadPool pool(file, arguments.session);
  const mote_session_options options = session_options(file, arguments.session, pool);
  mote_speak_options speaking = mote_speak_options_default(file.model());
  speaking.seed = arguments.seed;
  if (arguments.speed != 0.0f) speaking.speed *= arguments.speed;
  convert::refuse_input(arguments.output, {arguments.file, arguments.text_file});
  const auto texts = utterances(arguments, file, options);
  if (texts.empty()) convert::fail("the text has nothing that the model can say");
  std::vector<float> samples;
  for (const std::vector<int32_t>& ids : texts) {
    if (!samples.empty()) samples.resize(samples.size() + static_cast<size_t>(kPause * voice.rate));
    const Utterance said = speak(file, options, ids, speaking, "speak");
    samples.insert(samples.end(), said.samples.begin(), said.samples.end());
    if (samples.size() > kMostSamples) convert::fail("the text is too long for one WAV; speak it in parts");
  }
  const std::vector<std::byte> wav = wav_of(samples, voice.rate);
  if (arguments.output == "-") return write_output({reinterpret_cast<const char*>(wav.data()), wav.size()});
  convert::OutputFile output(arguments.output);
  output.write(wav);
  output.commit();
  note("{}: {:.1f} s", arguments.output, static_cast<double>(samples.size()) / voice.rate);
}

}  // namespace

void add_speak(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "speak", "Say a text: a file of sound is written", speak_text);
  Option prompt = command.option("-p,--prompt", &arguments.prompt, "The text").type("TEXT");
  Option text = command.option("--file", &arguments.text_file, "A text file; -: standard input").type("FILE");
  text.excludes(prompt);
  command.option("--ids", &arguments.ids, "Token ids in place of a text")
      .type("IDS")
      .excludes(prompt)
      .excludes(text);
  command.option("-o,--output", &arguments.output, "WAV of 16 bits; -: standard output")
      .type("FILE")
      .required();
  command.option("--seed", &arguments.seed, "Another way to say it (default: 0)").type("N");
  command.option("--speed", &arguments.speed, "Times the model's own speed").type("S").range(0.1f, 10.0f);
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
