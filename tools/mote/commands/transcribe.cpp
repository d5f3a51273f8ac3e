// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe: speech to text.
#include <optional>
#include <string_view>
#include <utility>

#include "host/base/error.h"
#include "host/base/system.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/sound_flags.h"
#include "tools/mote/sound_paths.h"
#include "tools/mote/speculation_flags.h"
#include "tools/mote/transcript.h"
#include "tools/mote/transcript_files.h"
#include "tools/mote/usage.h"
#include "tools/mote/whisper_flags.h"

namespace mote::cli {
namespace {

struct TranscribeArguments {
  std::string file, to;
  std::vector<std::string> sounds;
  WhisperFlags whisper;
  SoundFlags part;
  TranscriptFlags output;
  bool detect_language = false;
  SpeculationFlags speculation;
  SessionFlags session;
};

/// Prints segments as they come.
class Printer {
 public:
  explicit Printer(std::string_view format) : format_(format) {}

  void start() {
    if (!begun_) print("{}", transcript_head(format_));
    begun_ = true;
  }
  void add(std::string_view text, double begin, double end) {
    clear_progress();
    start();
    print("{}", transcript_part(format_, ++number_, text, begin, end));
    flush_output();
  }

 private:
  std::string_view format_;
  uint64_t number_ = 0;
  bool begun_ = false;
};

std::string options_of(const TranscribeArguments& arguments) {
  nlohmann::ordered_json options = whisper_options(arguments.whisper);
  add_sound_options(arguments.part, options);
  if (arguments.speculation.changed()) add_speculation_options(arguments.speculation, options);
  if (!arguments.to.empty()) options["to"] = arguments.to;
  if (arguments.output.words) options["words"] = true;
  if (arguments.output.live) options["live"] = true;
  if (arguments.output.partial) options["partial"] = true;
  if (arguments.output.listen) options["listen"] = *arguments.output.listen;
  return text_of(options);
}

/// Takes what is no part of a transcript out of it, and says it.
void tell_faults(nlohmann::json& found, const std::string& path) {
  const bool heard = found.at("heard").get<bool>();
  const std::string damage = found.value("damage", "");
  found.erase("heard");
  found.erase("damage");
  if (!damage.empty()) note("{}: {}", path, damage);
  if (!heard && damage.empty()) note("{}: there is nothing to hear, it is silent or too short", path);
}

/// Transcribes one sound, or picture; `calls` may get segments.
nlohmann::json transcript_of(const HostModel& model, const std::string& path, const std::string& options,
                             HostCalls& calls) {
  const mote_host_input input = file_input(path);
  const HostResult found =
      calls.take(mote_host_transcribe(model.get(), &input, options.c_str(), calls.get()));
  clear_progress();
  return found.json();
}

/// Prints the transcript of one sound, its segments as they come where the format lets them.
void print_sound(const TranscribeArguments& arguments, const HostModel& model) {
  const std::string format = arguments.output.format();
  // Words without titles are one line, once all are known.
  const bool of_words = model.about().at("task") == "transcribe_words";
  const bool by_words = arguments.output.words && (format == "srt" || format == "vtt");
  const bool streams = format != "json" && !(format == "txt" && of_words) && !by_words;
  const std::string& path = arguments.sounds.front();
  Printer printer(format);
  HostCalls calls;
  calls.on_progress = show_progress;
  if (streams) {
    calls.on_segment = [&](std::string_view text, double begin, double end) {
      printer.add(text, begin, end);
    };
  }
  nlohmann::json found = transcript_of(model, path, options_of(arguments), calls);
  if (streams) printer.start();
  if (format == "json" && of_words && !arguments.output.words) found.erase("segments");
  nlohmann::json shown = found;
  shown.erase("heard");
  shown.erase("damage");
  if (!streams) print("{}", transcript_text(shown, format, arguments.output.limits));
  tell_no_guesses(arguments.speculation, found);
  tell_faults(found, path);
}

/// Prints a sound's segments while it comes, as objects a line where JSON is wanted, and in the end how long
/// texts took.
void print_live(const TranscribeArguments& arguments, const HostModel& model) {
  const std::string format = arguments.output.format();
  const std::string path = arguments.output.listen ? *arguments.output.listen : arguments.sounds.front();
  const bool json = format == "json", redraws = !json && convert::is_terminal(convert::Stream::output);
  Printer printer(format);
  bool shown = false;  // a line that may change
  const auto clear = [&] {
    if (std::exchange(shown, false)) print("\r\033[K");
  };
  HostCalls calls;
  calls.on_segment = [&](std::string_view text, double begin, double end) {
    clear();
    if (!json) return printer.add(text, begin, end);
    print_json({{"text", text}, {"start", begin}, {"end", end}});
    flush_output();
  };
  calls.on_partial = [&](std::string_view text, size_t agreed) {
    if (json) {
      print_json({{"partial", text}, {"agreed", text.substr(0, agreed)}});
    } else if (redraws) {
      clear();
      shown = true;
      print("{}\033[2m{}\033[0m", one_line(text.substr(0, agreed)), one_line(text.substr(agreed)));
    } else {
      print("... {}\n", one_line(text));
    }
    flush_output();
  };
  nlohmann::json found;
  try {
    std::optional<InterruptGuard> guard;
    if (arguments.output.listen) guard.emplace();  // Ctrl-C is how it ends
    found = transcript_of(model, path, options_of(arguments), calls);
  } catch (const Interrupted&) {
    if (!arguments.output.listen) throw;
    return clear();
  }
  clear();
  const nlohmann::json latency = found.at("latency");
  tell_no_guesses(arguments.speculation, found);
  tell_faults(found, path);
  if (latency.at("stretches").get<uint32_t>() == 0) return;
  note("{} stretches; a text came {:.2f} s after its stretch was heard, at most {:.2f} s",
       latency.at("stretches").get<uint32_t>(), latency.at("mean").get<double>(),
       latency.at("most").get<double>());
}

/// Transcribes several sounds, or pictures, into files or as an object a line.
void transcribe_all(const TranscribeArguments& arguments, const HostModel& model, bool pictures) {
  const std::string options = pictures ? "{}" : options_of(arguments);
  const auto found = media_paths(arguments.sounds, pictures ? Media::pictures : Media::sounds);
  bool told = false;
  each_transcript(arguments.output, found, [&](const MediaPath& one, std::string_view place) {
    HostCalls calls;
    const std::string stage = fmt::format("{} ({})", one_line(one.path), place);
    calls.on_progress = [&](std::string_view, double part) { show_progress(stage, part); };
    show_progress(stage, pictures ? -1.0 : 0.0);
    nlohmann::json transcript = transcript_of(model, one.path, options, calls);
    if (!pictures) tell_faults(transcript, one.path);
    if (!std::exchange(told, true)) tell_no_guesses(arguments.speculation, transcript);
    return transcript;
  });
}

void print_picture(const TranscribeArguments& arguments, const HostModel& model) {
  HostCalls calls;
  nlohmann::json found = transcript_of(model, arguments.sounds.front(), "{}", calls);
  found["text"] = host::trimmed(found.at("text").get<std::string>());
  print("{}", transcript_text(found, arguments.output.format(), {}));
}

/// Prints the languages that may be spoken, the likeliest first.
void print_languages(const TranscribeArguments& arguments, HostModel& model) {
  constexpr size_t kShown = 5;
  const std::string format = arguments.output.format();
  if (arguments.output.writes_files() || (format != "txt" && format != "json"))
    usage_fail("--detect-language writes no subtitles and no files");
  if (arguments.sounds.size() != 1) usage_fail("--detect-language takes one sound");
  if (arguments.speculation.changed())
    usage_fail("--detect-language says no text, of which tokens are guessed");
  nlohmann::ordered_json options = {{"detect-language", true}};
  add_sound_options(arguments.part, options);
  HostCalls calls;
  const nlohmann::json json = transcript_of(model, arguments.sounds.front(), text_of(options), calls);
  if (format == "json") return print_json(json);
  size_t shown = 0;
  for (const nlohmann::json& one : json.at("languages")) {
    if (shown++ == kShown) break;
    print("{}\t{:.4f}\n", one.at("language").get<std::string>(), one.at("probability").get<double>());
  }
}

void transcribe(const TranscribeArguments& arguments) {
  arguments.output.check();
  if (arguments.output.listen && !arguments.sounds.empty())
    usage_fail("--listen hears a device, and no file");
  if (!arguments.output.listen && arguments.sounds.empty()) fail_missing("sound");
  nlohmann::json opening = nlohmann::json::object();
  add_draft(arguments.speculation, opening);
  HostModel model(arguments.file, arguments.session, opening);
  model.begin();
  const bool pictures = model.about().at("task") == "read_pictures";
  if (!pictures && !model.takes_sound())
    convert::fail("{} does not take sound, nor pictures of text", model.path());
  if (pictures) {
    arguments.output.refuse_times();
    TranscribeArguments plain;
    plain.output = arguments.output;
    if (options_of(arguments) != options_of(plain))
      usage_fail("{} reads pictures: options of sound and speech do nothing there", model.path());
  }
  if (arguments.detect_language) return print_languages(arguments, model);
  const bool alone = arguments.sounds.size() == 1 && !is_folder(arguments.sounds.front());
  if (arguments.output.live && (pictures || !(alone || arguments.output.listen)))
    usage_fail("--live takes one sound");
  if (arguments.output.live) return print_live(arguments, model);
  if (arguments.output.writes_files() || !alone) return transcribe_all(arguments, model, pictures);
  if (pictures) return print_picture(arguments, model);
  print_sound(arguments, model);
}

}  // namespace

void add_transcribe(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "transcribe", "Write down what is said in files of sound, or is in pictures", transcribe);
  command
      .option(
          "sound", &arguments.sounds,
          "Files and folders of sound: WAV, and with libsndfile FLAC, MP3, Ogg Vorbis, Opus, AIFF, AU, CAF, "
          "W64 and RF64, and by ffmpeg, where it is installed, M4A, AAC, WebM and others; -: standard "
          "input, as of arecord -. Of a reader of pictures: those of a line of text")
      .type("SOUND");
  add_sound_flags(command, arguments.part);
  add_whisper_flags(command, arguments.whisper);
  command.flag("--detect-language", &arguments.detect_language,
               "Print what may be spoken, with probabilities, and do not transcribe");
  command.option("--to", &arguments.to, "The language to write, for a Speech2Text of several").type("CODE");
  add_speculation_flags(command, arguments.speculation);
  add_transcript_flags(command, arguments.output);
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
