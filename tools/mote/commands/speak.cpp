// SPDX-License-Identifier: Apache-2.0
//
// mote speak: text to speech.
#include <optional>
#include <span>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/base/samples.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr float kMostNoise = 10.0f;

struct SpeakArguments {
  std::string file, output, text_file;
  std::optional<std::string> prompt, ids;
  uint64_t seed = 0;
  float speed = 0.0f;
  std::optional<float> noise, duration_noise;
  std::string speaker;
  bool phonemes = false;
  SessionFlags session;
};

/// Returns the options of mote_host_speak.
nlohmann::ordered_json options_of(const SpeakArguments& arguments) {
  nlohmann::ordered_json options = {{"seed", arguments.seed}};
  if (arguments.speed != 0) options["speed"] = arguments.speed;
  if (arguments.noise) options["noise"] = *arguments.noise;
  if (arguments.duration_noise) options["duration-noise"] = *arguments.duration_noise;
  if (!arguments.speaker.empty()) options["speaker"] = arguments.speaker;
  if (arguments.phonemes) options["phonemes"] = true;
  if (arguments.output == "-") {
    options["values"] = false;
  } else {
    options["output"] = arguments.output;
  }
  return options;
}

void speak_text(const SpeakArguments& arguments) {
  if (!arguments.prompt && !arguments.ids && arguments.text_file.empty())
    usage_fail("no text; give one with -p TEXT or --file FILE");
  const bool streams = arguments.output == "-";
  HostModel model(arguments.file, arguments.session);
  if (!model.is_for("speak")) convert::fail("{} does not speak", model.path());
  model.begin();
  convert::refuse_input(arguments.output, {arguments.file, arguments.text_file});
  std::vector<int32_t> ids;
  std::string text;
  if (arguments.ids) {
    ids = given_ids(*arguments.ids);
    if (ids.empty()) usage_fail("--ids: no ids; give at least one, such as --ids 1");
  }
  const bool reads = !arguments.ids && !arguments.prompt && model.info().tokens != 0;
  if (reads) text = read_text(arguments.text_file);
  if (arguments.prompt) text = *arguments.prompt;
  const mote_host_input input = arguments.ids ? ids_input(ids, "--ids") : text_input(text);
  HostCalls calls;
  bool begun = false;
  if (streams) {
    calls.on_samples = [&](std::span<const float> samples, uint32_t rate) {
      if (!begun) note("samples of 16 bits, one channel, {} a second", rate);
      begun = true;
      std::vector<std::byte> bytes;
      convert::add_samples(bytes, samples);
      write_output({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      flush_output();
    };
  }
  const HostResult said =
      calls.take(mote_host_speak(model.get(), &input, text_of(options_of(arguments)).c_str(), calls.get()));
  if (!streams) note("{}: {:.1f} s", arguments.output, said.json().at("seconds").get<double>());
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
  command
      .option("-o,--output", &arguments.output,
              "Sound of 16 bits, .wav or .flac; -: standard output gets samples as they are made")
      .type("FILE")
      .required();
  command.option("--seed", &arguments.seed, "Another way to say it (default: 0)").type("N");
  command.option("--speed", &arguments.speed, "Times the model's own speed").type("S").range(0.1f, 10.0f);
  command.option("--speaker", &arguments.speaker, "Number or name of a speaker (default: 0)").type("S");
  command.flag("--phonemes", &arguments.phonemes, "The text is phonemes already, as espeak-ng writes them");
  command.option("--noise", &arguments.noise, "How much one way to say it differs from another")
      .type("X")
      .range(0.0f, kMostNoise);
  command.option("--duration-noise", &arguments.duration_noise, "The same of how long tokens are said")
      .type("X")
      .range(0.0f, kMostNoise);
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
