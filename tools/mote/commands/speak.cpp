// SPDX-License-Identifier: Apache-2.0
//
// mote speak: text to speech.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

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
std::vector<std::byte> wav_of(std::span<const float> samples, uint32_t rate) {
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

void speak_text(const SpeakArguments& arguments) {
  if (!arguments.prompt && !arguments.ids && arguments.text_file.empty())
    usage_fail("no text; give one with -p TEXT or --file FILE");
  HostModel model(arguments.file, arguments.session);
  if (!model.is_for("speak")) convert::fail("{} does not speak", model.path());
  model.begin();
  convert::refuse_input(arguments.output, {arguments.file, arguments.text_file});
  std::vector<int32_t> ids;
  std::string text;
  if (arguments.ids) ids = given_ids(*arguments.ids);
  const bool reads = !arguments.ids && !arguments.prompt && model.info().tokens != 0;
  if (reads) text = read_text(arguments.text_file);
  if (arguments.prompt) text = *arguments.prompt;
  const mote_host_input input = arguments.ids ? ids_input(ids, "--ids") : text_input(text);
  nlohmann::json options = {{"seed", arguments.seed}};
  if (arguments.speed != 0) options["speed"] = arguments.speed;
  HostCalls calls;
  uint64_t count = 0;
  calls.on_samples = [&](uint64_t more) {
    count += more;
    if (count > kMostSamples) convert::fail("the text is too long for one WAV; speak it in parts");
  };
  const HostResult said =
      calls.take(mote_host_speak(model.get(), &input, options.dump().c_str(), calls.get()));
  const auto rate = said.json().at("rate").get<uint32_t>();
  const std::vector<std::byte> wav = wav_of(said.values(), rate);
  if (arguments.output == "-") return write_output({reinterpret_cast<const char*>(wav.data()), wav.size()});
  convert::OutputFile output(arguments.output);
  output.write(wav);
  output.commit();
  note("{}: {:.1f} s", arguments.output, static_cast<double>(count) / rate);
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
