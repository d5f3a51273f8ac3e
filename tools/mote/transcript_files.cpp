// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/transcript_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostOfLines = 10000;

std::string known_formats() {
  std::string all;
  for (const char* const format : kTranscriptFormats) all += (all.empty() ? "" : ", ") + std::string(format);
  return all;
}

std::string file_of(const TranscriptFlags& flags, const MediaPath& sound, const std::string& format) {
  return (fs::path(flags.folder) / (sound.name + "." + format)).string();
}

void refuse_equal_names(const TranscriptFlags& flags, const std::vector<MediaPath>& sounds) {
  std::map<std::string, const MediaPath*> seen;
  for (const MediaPath& sound : sounds) {
    const auto [at, is_new] = seen.emplace(sound.name, &sound);
    if (!is_new)
      usage_fail("{} and {} would both be {}: write them into folders of their own", at->second->path,
                 sound.path, file_of(flags, sound, flags.format()));
  }
}

bool is_whole(const TranscriptFlags& flags, const MediaPath& sound, const std::vector<std::string>& formats) {
  return std::all_of(formats.begin(), formats.end(), [&](const std::string& format) {
    std::error_code none;
    return fs::is_regular_file(file_of(flags, sound, format), none);
  });
}

void write_transcript(const TranscriptFlags& flags, const MediaPath& sound,
                      const std::vector<std::string>& formats, const nlohmann::json& transcript) {
  for (const std::string& format : formats) {
    const std::string path = file_of(flags, sound, format);
    convert::refuse_input(path, {sound.path});
    const std::string text = transcript_text(transcript, format, flags.limits);
    convert::OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) convert::fail("{}: {}", folder.string(), error.message());
}

/// Tells whether a failure is of the sound alone: its sentence begins with the name.
bool is_of(const convert::Error& error, const MediaPath& sound) {
  return std::string_view(error.what()).substr(0, sound.path.size()) == sound.path;
}

}  // namespace

std::vector<std::string> TranscriptFlags::formats() const {
  if (!named) return {srt ? "srt" : vtt ? "vtt" : json ? "json" : "txt"};
  std::vector<std::string> formats;
  std::string_view left = *named;
  for (bool more = true; more;) {
    const size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    const std::string one(left.substr(0, comma));
    if (std::find(std::begin(kTranscriptFormats), std::end(kTranscriptFormats), one) ==
        std::end(kTranscriptFormats))
      usage_fail("--format: '{}' is none of {}", one, known_formats());
    if (std::find(formats.begin(), formats.end(), one) == formats.end()) formats.push_back(one);
    if (more) left.remove_prefix(comma + 1);
  }
  return formats;
}

void TranscriptFlags::check() const {
  if (srt + vtt + json + named.has_value() > 1)
    usage_fail("--srt, --vtt, --json and --format exclude each other");
  if (formats().size() > 1 && !writes_files()) usage_fail("--format: several formats need -o FOLDER");
  const bool breaks = limits.width || limits.count;
  if (breaks && !words) usage_fail("--max-line-width and --max-line-count need --words");
  if (limits.count && !limits.width) usage_fail("--max-line-count needs --max-line-width");
  if (listen && !live) usage_fail("--listen needs --live");
  if (partial && !live) usage_fail("--partial needs --live");
  if (live && writes_files()) usage_fail("--live writes to standard output, not to files");
  if (resume && !writes_files()) usage_fail("--resume needs -o FOLDER");
}

void TranscriptFlags::refuse_times() const {
  for (const std::string& format : formats())
    if (format != "txt" && format != "json") usage_fail("--{} and formats with times are of sound", format);
}

void add_transcript_flags(Command& command, TranscriptFlags& flags) {
  command.flag("--srt", &flags.srt, "As subtitles of SubRip");
  command.flag("--vtt", &flags.vtt, "As subtitles of WebVTT");
  command.flag(
      "--json", &flags.json,
      "The text, and its words or segments with the seconds when they are said; of several sounds an "
      "object a line, with the name");
  command
      .option("-o,--output", &flags.folder,
              "A folder that gets a file of each sound in each format, with its name")
      .type("FOLDER");
  command.option("--format", &flags.named, "Of " + known_formats() + "; several with commas between, by -o")
      .type("FORMATS");
  command.flag("--words", &flags.words, "With the times of words, in JSON and by them in subtitles");
  command
      .option("--max-line-width", &flags.limits.width,
              "Characters of a line of subtitles at most, by --words")
      .type("N")
      .range(1u, kMostOfLines);
  command.option("--max-line-count", &flags.limits.count, "Lines of a subtitle at most, by --max-line-width")
      .type("N")
      .range(1u, kMostOfLines);
  command.flag("--live", &flags.live,
               "Write what is said in a stretch of speech once it is over, while the sound comes");
  command.flag("--partial", &flags.partial, "And while it goes on lines that are revised, by --live");
  command
      .option("--listen", &flags.listen,
              "Hear a device of ALSA, such as default, in place of a file, by --live, until Ctrl-C")
      .type("DEVICE");
  command.flag("--resume", &flags.resume, "Leave sounds out whose files are all in the folder");
}

bool is_folder(const std::string& path) {
  std::error_code none;
  return path != "-" && fs::is_directory(path, none);
}

void each_transcript(const TranscriptFlags& flags, const std::vector<MediaPath>& sounds,
                     const Transcriber& transcriber) {
  const std::vector<std::string> formats = flags.formats();
  if (!flags.writes_files() && flags.format() != "json")
    usage_fail("several sounds need -o FOLDER for their files, or --json");
  if (flags.writes_files()) refuse_equal_names(flags, sounds);
  size_t left_out = 0, failed = 0, at = 0;
  for (const MediaPath& sound : sounds) {
    const std::string place = fmt::format("{} of {}", ++at, sounds.size());
    if (flags.resume && is_whole(flags, sound, formats)) {
      ++left_out;
      continue;
    }
    if (flags.writes_files()) make_folder(fs::path(file_of(flags, sound, "txt")).parent_path());
    try {
      nlohmann::json transcript = transcriber(sound, place);
      clear_progress();
      if (flags.writes_files()) {
        write_transcript(flags, sound, formats, transcript);
        continue;
      }
      transcript["sound"] = sound.path;
      print_json(transcript);
      flush_output();
    } catch (const convert::Error& error) {
      clear_progress();
      if (sounds.size() == 1 || !is_of(error, sound)) throw;
      note("{}", error.what());
      ++failed;
    }
  }
  if (left_out != 0) note("{} of {} sounds were left out, whose files are there", left_out, sounds.size());
  if (failed != 0) convert::fail("{} of {} sounds failed", failed, sounds.size());
}

}  // namespace mote::cli
