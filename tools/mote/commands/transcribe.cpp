// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe: speech to text.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "mote/pictures.h"
#include "mote/sound.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/ctc.h"
#include "tools/mote/speech/searched_text.h"
#include "tools/mote/speech/source_text.h"
#include "tools/mote/speech/token_text.h"
#include "tools/mote/speech/transducer.h"
#include "tools/mote/speech/whisper.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr uint32_t kMostWords = 12;    // of a line of subtitles
constexpr double kPauseSeconds = 1.0;  // seconds that end one

struct TranscribeArguments {
  std::string file, sound, to;
  WhisperOptions whisper;
  bool srt = false, vtt = false, json = false;
  SessionFlags session;
};

std::string clock(double seconds, char point) {
  const auto ms = static_cast<uint64_t>(std::llround(seconds * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

/// What stands between the texts of passages in the whole text.
enum class Between {
  space,        // of texts without spaces at their ends
  other_space,  // of words, which may have spaces behind them
  nothing       // of texts as they were decoded, Whisper's
};

/// Prints passages as they come, or all at once as JSON.
class Printer {
 public:
  explicit Printer(const TranscribeArguments& arguments, Between between = Between::space)
      : arguments_(arguments), between_(between) {
    if (arguments.vtt) print("WEBVTT\n\n");
  }

  void add(const Passage& passage) {
    const std::string text = trimmed(passage.text);
    if (between_ != Between::nothing && !whole_.empty()) whole_ += " ";
    whole_ += between_ == Between::space ? text : passage.text;
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
  void finish(const char* name, const std::string& language, bool cleans_up = false) {
    if (!arguments_.json) return;
    const std::string text = cleans_up ? cleaned_up(trimmed(whole_)) : trimmed(whole_);
    nlohmann::json all = {{"text", text}, {name, items_}};
    if (!language.empty()) all["language"] = language;
    print_json(all);
  }

 private:
  const TranscribeArguments& arguments_;
  Between between_;
  std::string whole_;
  nlohmann::json items_ = nlohmann::json::array();
  size_t number_ = 0;
};

/// Words said without a pause, `most` at most, as one.
std::vector<Passage> joined(const std::vector<Passage>& words, size_t most, double pause) {
  std::vector<Passage> lines;
  size_t count = 0;
  for (const Passage& word : words) {
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

void print_words(const TranscribeArguments& arguments, const std::vector<Passage>& words, bool cleans_up) {
  Printer printer(arguments, Between::other_space);
  if (arguments.json) {
    for (const Passage& word : words) printer.add(word);
    return printer.finish("words", "", cleans_up);
  }
  const bool titles = arguments.srt || arguments.vtt;
  std::vector<Passage> lines =
      titles ? joined(words, kMostWords, kPauseSeconds) : joined(words, words.size(), INFINITY);
  if (!titles && lines.empty()) print("\n");
  for (Passage& line : lines) {
    if (cleans_up) line.text = cleaned_up(trimmed(line.text));
    printer.add(line);
  }
}

void print_picture(const TranscribeArguments& arguments, const ModelFile& file, const ThreadPool& pool) {
  if (arguments.srt || arguments.vtt) usage_fail("--srt and --vtt are of sound");
  const mote_session_options options = session_options(file, arguments.session, pool);
  const std::string text = trimmed(transcribe_picture(file, options, arguments.sound));
  if (arguments.json) return print_json({{"text", text}});
  print("{}\n", text);
}

void note_damage(const TranscribeArguments& arguments, const SoundSource& source) {
  const std::string damage = source.damage();
  if (!damage.empty()) note("{}: {}", arguments.sound, damage);
}

void transcribe(const TranscribeArguments& arguments) {
  if (arguments.srt + arguments.vtt + arguments.json > 1)
    usage_fail("--srt, --vtt and --json exclude each other");
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  mote_picture_info picture;
  if (mote_model_get_picture(file.model(), &picture, nullptr) == MOTE_OK && has_source(file))
    return print_picture(arguments, file, pool);
  if (sound.rate == 0) convert::fail("{} does not take sound, nor pictures of text", file.path());
  const mote_session_options options = session_options(file, arguments.session, pool);
  const bool searches = sound.features == MOTE_FEATURES_NORMALIZED_FILTER_BANK && has_source(file);
  const bool whisper = sound.features == MOTE_FEATURES_LOG_MEL && sound.frames != 0 && has_source(file);
  if (!whisper && (!arguments.whisper.language.empty() || arguments.whisper.translate))
    convert::fail("{} knows no languages; --language and --translate are for Whisper", file.path());
  if (!searches && !arguments.to.empty())
    convert::fail("{} writes one language; --to is for Speech2Text", file.path());
  std::optional<WhisperDecoder> decoder;
  if (whisper) decoder.emplace(file, options);
  const std::unique_ptr<SoundSource> source = open_sound(arguments.sound);
  const bool tokens = sound.features == MOTE_FEATURES_NORMALIZED_LOG_MEL;
  if (!has_source(file) && !tokens) {
    print_words(arguments, transcribe_ctc(file, options, *source), mote_sound_cleans_up(file.model()) != 0);
    return note_damage(arguments, *source);
  }
  Printer printer(arguments, whisper ? Between::nothing : Between::space);
  const auto found = [&](const Passage& passage) { printer.add(passage); };
  std::string language;
  bool heard = true;
  if (whisper) {
    language = transcribe_whisper(*decoder, *source, arguments.whisper, found);
  } else if (tokens) {
    (has_source(file) ? transcribe_transducer : transcribe_ctc_tokens)(file, options, *source, found);
  } else if (searches) {
    heard = transcribe_searched(file, options, *source, arguments.to, found);
  } else {
    transcribe_source(file, options, *source, found);
  }
  printer.finish("segments", language);
  note_damage(arguments, *source);
  if (!heard && source->damage().empty())
    note("{}: there is nothing to hear, it is silent or too short", arguments.sound);
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
  command.option("--language", &arguments.whisper.language, "What is spoken (en); by default it is detected")
      .type("CODE");
  command.flag("--translate", &arguments.whisper.translate, "Into English");
  command.option("--to", &arguments.to, "The language to write, for a Speech2Text of several").type("CODE");
  command.flag("--srt", &arguments.srt, "As subtitles of SubRip");
  command.flag("--vtt", &arguments.vtt, "As subtitles of WebVTT");
  command.flag("--json", &arguments.json,
               "The text, and its words or segments with the seconds when they are said");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
