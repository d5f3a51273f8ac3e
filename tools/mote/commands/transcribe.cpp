// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe: speech to text.
#include <cmath>
#include <string_view>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"
#include "tools/mote/whisper_flags.h"

namespace mote::cli {
namespace {

struct TranscribeArguments {
  std::string file, sound, to;
  WhisperFlags whisper;
  bool srt = false, vtt = false, json = false, detect_language = false;
  SessionFlags session;
};

std::string clock(double seconds, char point) {
  const auto ms = static_cast<uint64_t>(std::llround(seconds * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

/// Prints segments as they come.
class Printer {
 public:
  explicit Printer(const TranscribeArguments& arguments) : arguments_(arguments) {}

  void start() {
    if (arguments_.vtt && !begun_) print("WEBVTT\n\n");
    begun_ = true;
  }
  void add(std::string_view text, double begin, double end) {
    start();
    const char point = arguments_.vtt ? '.' : ',';
    if (arguments_.srt) print("{}\n", ++number_);
    if (arguments_.srt || arguments_.vtt)
      print("{} --> {}\n{}\n\n", clock(begin, point), clock(end, point), text);
    else
      print("{}\n", text);
    flush_output();
  }

 private:
  const TranscribeArguments& arguments_;
  size_t number_ = 0;
  bool begun_ = false;
};

void print_picture(const TranscribeArguments& arguments, HostModel& model) {
  if (arguments.srt || arguments.vtt) usage_fail("--srt and --vtt are of sound");
  const mote_host_input picture = file_input(arguments.sound);
  HostCalls calls;
  const HostResult found = calls.take(mote_host_transcribe(model.get(), &picture, nullptr, calls.get()));
  const std::string text = trimmed(found.text());
  if (arguments.json) return print_json({{"text", text}});
  print("{}\n", text);
}

void print_sound(const TranscribeArguments& arguments, HostModel& model) {
  nlohmann::ordered_json options = whisper_options(arguments.whisper);
  if (!arguments.to.empty()) options["to"] = arguments.to;
  const std::string given = text_of(options);
  const mote_host_input sound = file_input(arguments.sound);
  // Words without titles are one line, once all are known.
  const bool of_words = model.about().at("task") == "transcribe_words";
  const bool streams = arguments.srt || arguments.vtt || (!arguments.json && !of_words);
  Printer printer(arguments);
  HostCalls calls;
  if (streams) {
    calls.on_segment = [&](std::string_view text, double begin, double end) {
      printer.add(text, begin, end);
    };
  }
  const HostResult transcript =
      calls.take(mote_host_transcribe(model.get(), &sound, given.c_str(), calls.get()));
  nlohmann::json found = transcript.json();
  const bool heard = found.at("heard").get<bool>();
  const std::string damage = found.value("damage", "");
  printer.start();
  if (!streams && !arguments.json) print("{}\n", transcript.text());
  if (arguments.json) {
    found.erase("heard");
    found.erase("damage");
    if (of_words) found.erase("segments");
    print_json(found);
  }
  if (!damage.empty()) note("{}: {}", arguments.sound, damage);
  if (!heard && damage.empty())
    note("{}: there is nothing to hear, it is silent or too short", arguments.sound);
}

/// Prints the languages that may be spoken, the likeliest first.
void print_languages(const TranscribeArguments& arguments, HostModel& model) {
  constexpr size_t kShown = 5;
  if (arguments.srt || arguments.vtt) usage_fail("--detect-language writes no subtitles");
  const mote_host_input sound = file_input(arguments.sound);
  HostCalls calls;
  const HostResult found =
      calls.take(mote_host_transcribe(model.get(), &sound, R"({"detect-language": true})", calls.get()));
  const nlohmann::json json = found.json();
  if (arguments.json) return print_json(json);
  size_t shown = 0;
  for (const nlohmann::json& one : json.at("languages")) {
    if (shown++ == kShown) break;
    print("{}\t{:.4f}\n", one.at("language").get<std::string>(), one.at("probability").get<double>());
  }
}

void transcribe(const TranscribeArguments& arguments) {
  if (arguments.srt + arguments.vtt + arguments.json > 1)
    usage_fail("--srt, --vtt and --json exclude each other");
  HostModel model(arguments.file, arguments.session);
  model.begin();
  if (model.about().at("task") == "read_pictures") return print_picture(arguments, model);
  if (!model.takes_sound()) convert::fail("{} does not take sound, nor pictures of text", model.path());
  if (arguments.detect_language) return print_languages(arguments, model);
  print_sound(arguments, model);
}

}  // namespace

void add_transcribe(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "transcribe", "Write down what is said in a file of sound, or is in a picture", transcribe);
  command
      .option(
          "sound", &arguments.sound,
          "WAV, and with libsndfile FLAC, MP3, Ogg Vorbis, Opus and others; -: standard input, as of arecord "
          "-; a PNG or JPEG of a line of text")
      .type("SOUND")
      .required();
  add_whisper_flags(command, arguments.whisper);
  command.flag("--detect-language", &arguments.detect_language,
               "Print what may be spoken, with probabilities, and do not transcribe");
  command.option("--to", &arguments.to, "The language to write, for a Speech2Text of several").type("CODE");
  command.flag("--srt", &arguments.srt, "As subtitles of SubRip");
  command.flag("--vtt", &arguments.vtt, "As subtitles of WebVTT");
  command.flag("--json", &arguments.json,
               "The text, and its words or segments with the seconds when they are said");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
