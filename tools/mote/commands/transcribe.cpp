// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe: speech to text.
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/media/deflated.h"
#include "host/tasks/sound/source_text.h"
#include "host/tasks/sound/transcribe.h"
#include "host/inputs/sound_file_input.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/session.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr uint32_t kMostWords = 12;    // of a line of subtitles
constexpr double kPauseSeconds = 1.0;  // seconds that end one

struct TranscribeArguments {
  std::string file, sound, to, language;
  bool translate = false, srt = false, vtt = false, json = false;
  SessionFlags session;
};

std::string clock(double seconds, char point) {
  const auto ms = static_cast<uint64_t>(std::llround(seconds * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

/// Prints passages as they come, or all at once as JSON.
class Printer {
 public:
  Printer(const TranscribeArguments& arguments, const host::Model& model)
      : arguments_(arguments), whole_(model) {
    if (arguments.vtt) print("WEBVTT\n\n");
  }

  void add(const host::Passage& passage) {
    const std::string text = trimmed(passage.text);
    whole_.add(passage);
    if (arguments_.json)
      return items_.push_back({{"text", text}, {"begin", passage.begin}, {"end", passage.end}});
    const char point = arguments_.vtt ? '.' : ',';
    if (arguments_.srt) print("{}\n", ++number_);
    if (arguments_.srt || arguments_.vtt)
      print("{} --> {}\n{}\n\n", clock(passage.begin, point), clock(passage.end, point), text);
    else
      print("{}\n", text);
    flush_output();
  }

  /// `name`: of the list of passages.
  void finish(const char* name, const std::string& language = "") {
    if (!arguments_.json) return;
    nlohmann::json all = {{"text", whole_.text()}, {name, items_}};
    if (!language.empty()) all["language"] = language;
    print_json(all);
  }

 private:
  const TranscribeArguments& arguments_;
  host::WholeText whole_;
  nlohmann::json items_ = nlohmann::json::array();
  size_t number_ = 0;
};

/// Joins words said without a pause, `most` at most.
std::vector<host::Passage> joined(const std::vector<host::Passage>& words, size_t most, double pause) {
  std::vector<host::Passage> lines;
  size_t count = 0;
  for (const host::Passage& word : words) {
    if (!lines.empty() && count < most && word.begin - lines.back().end < pause) {
      lines.back().text += " " + word.text;
      lines.back().end = word.end;
      ++count;
    } else {
      lines.push_back(word);
      count = 1;
    }
  }
  return lines;
}

void print_words(const TranscribeArguments& arguments, const host::Model& model,
                 const std::vector<host::Passage>& words) {
  Printer printer(arguments, model);
  if (arguments.json) {
    for (const host::Passage& word : words) printer.add(word);
    return printer.finish("words");
  }
  const bool titles = arguments.srt || arguments.vtt;
  std::vector<host::Passage> lines =
      titles ? joined(words, kMostWords, kPauseSeconds) : joined(words, words.size(), INFINITY);
  if (!titles && lines.empty()) print("\n");
  const host::WholeText whole(model);
  for (host::Passage& line : lines) {
    line.text = whole.shown(line.text);
    printer.add(line);
  }
}

void print_picture(const TranscribeArguments& arguments, const ModelFile& file,
                   const host::SessionChoices& choices) {
  if (arguments.srt || arguments.vtt) usage_fail("--srt and --vtt are of sound");
  check(host::require_source_text(file.host()));
  mote_picture_info picture;
  mote_error error{};
  check(mote_model_get_picture(file.model(), &picture, &error), error, file.path());
  const std::string text = trimmed(take(host::read_picture(
      file.host(), choices, picture_values(arguments.sound, picture), hooks(), arguments.sound)));
  if (arguments.json) return print_json({{"text", text}});
  print("{}\n", text);
}

void print_sound(const TranscribeArguments& arguments, const ModelFile& file,
                 const host::SessionChoices& choices) {
  const host::TranscribeOptions options{{arguments.language, arguments.translate, host::deflater()},
                                        arguments.to};
  check(host::require_speech(file.host(), options));
  const host::SpeechKind kind = host::speech_kind(file.host());
  host::SoundFileInput sound(arguments.sound, file.host().sound().rate);
  if (kind == host::SpeechKind::whisper && !options.whisper.deflated)
    note("this build has no zlib, which tells texts that repeat themselves: they stay");
  const auto transcribe = [&](const host::OnPassage& found) {
    Relay relay;
    return relay.take(
        host::transcribe(file.host(), choices, sound, options, relay.hooks(), relay.wrap(found)));
  };
  host::Transcript transcript;
  if (kind == host::SpeechKind::words) {
    std::vector<host::Passage> words;
    transcript = transcribe([&](const host::Passage& word) { words.push_back(word); });
    print_words(arguments, file.host(), words);
  } else {
    Printer printer(arguments, file.host());
    transcript = transcribe([&](const host::Passage& passage) { printer.add(passage); });
    printer.finish("segments", transcript.language);
  }
  const std::string damage = sound.damage();
  if (!damage.empty()) note("{}: {}", arguments.sound, damage);
  if (!transcript.heard && damage.empty())
    note("{}: there is nothing to hear, it is silent or too short", arguments.sound);
}

void transcribe(const TranscribeArguments& arguments) {
  if (arguments.srt + arguments.vtt + arguments.json > 1)
    usage_fail("--srt, --vtt and --json exclude each other");
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  const host::SessionChoices choices = session_choices(file, arguments.session, pool);
  if (host::reads_pictures(file.host())) return print_picture(arguments, file, choices);
  if (host::speech_kind(file.host()) == host::SpeechKind::none)
    convert::fail("{} does not take sound, nor pictures of text", file.path());
  print_sound(arguments, file, choices);
}

}  // namespace

void add_transcribe(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "transcribe", "Write down what is said in a file of sound, or is in a picture", transcribe);
  command
      .option("sound", &arguments.sound,
              "WAV, FLAC or OGG; -: standard input, as of arecord -; a PNG or JPEG of a line of text")
      .type("SOUND")
      .required();
  command.option("--language", &arguments.language, "What is spoken (en); by default it is detected")
      .type("CODE");
  command.flag("--translate", &arguments.translate, "Into English");
  command.option("--to", &arguments.to, "The language to write, for a Speech2Text of several").type("CODE");
  command.flag("--srt", &arguments.srt, "As subtitles of SubRip");
  command.flag("--vtt", &arguments.vtt, "As subtitles of WebVTT");
  command.flag("--json", &arguments.json,
               "The text, and its words or segments with the seconds when they are said");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
