// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/tasks/sentence.h"

namespace mote::cli {
namespace {

using nlohmann::json;

constexpr uint32_t kNoWidth = 1000;
constexpr double kPauseSeconds = 3.0;

uint64_t milliseconds(double seconds) {
  return static_cast<uint64_t>(std::llround(std::max(0.0, seconds) * 1000));
}

std::string clock(double seconds, char point) {
  const uint64_t ms = milliseconds(seconds);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

/// Replaces a part by a shorter one, or by one as long without it, until there is none.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from))
    text.replace(at, from.size(), to);
  return text;
}

/// Counts characters of UTF-8.
size_t characters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

struct Subtitle {
  std::string text;
  double begin = 0, end = 0;
};

using TakeSubtitle = std::function<void(const Subtitle&)>;

/// Puts words into lines and lines into subtitles.
class WordLines {
 public:
  WordLines(const SubtitleLimits& limits, const TakeSubtitle& take)
      : limits_(limits), take_(take), keeps_segments_(!limits.width || !limits.count) {}

  void add(const json& word, bool begins_segment) {
    const std::string text = word.at("word");
    const double begin = word.at("start"), end = word.at("end");
    const bool pauses = !keeps_segments_ && begin - last_ > kPauseSeconds;
    const bool has_room = line_ + characters(text) <= limits_.width.value_or(kNoWidth);
    const bool breaks = begins_segment && !subtitle_.text.empty() && keeps_segments_;
    if (line_ > 0 && has_room && !pauses && !breaks) {
      line_ += characters(text);
      subtitle_.text += text;
    } else {
      const std::string first = host::trimmed(text);
      const bool full = !subtitle_.text.empty() && limits_.count && (pauses || lines_ >= *limits_.count);
      if (full || breaks) {
        finish();
      } else if (line_ > 0) {
        ++lines_;
        subtitle_.text += '\n';
      }
      if (subtitle_.text.empty()) subtitle_.begin = begin;
      subtitle_.text += first;
      line_ = characters(first);
    }
    subtitle_.end = end;
    last_ = begin;
  }
  void finish() {
    if (!subtitle_.text.empty()) take_(subtitle_);
    subtitle_ = {};
    line_ = 0;
    lines_ = 1;
  }

 private:
  const SubtitleLimits& limits_;
  const TakeSubtitle& take_;
  bool keeps_segments_;
  Subtitle subtitle_;
  size_t line_ = 0;  // characters of the last line
  uint32_t lines_ = 1;
  double last_ = 0;  // where the word before began
};

void each_subtitle(const json& segments, const SubtitleLimits& limits, const TakeSubtitle& take) {
  WordLines lines(limits, take);
  for (const json& segment : segments) {
    if (const auto words = segment.find("words"); words != segment.end() && !words->empty()) {
      bool first = true;
      for (const json& word : *words) lines.add(word, std::exchange(first, false));
      continue;
    }
    lines.finish();
    take({host::trimmed(segment.at("text").get<std::string>()), segment.at("start"), segment.at("end")});
  }
  lines.finish();
}

}  // namespace

std::string_view transcript_head(std::string_view format) {
  return format == "vtt" ? "WEBVTT\n\n" : format == "tsv" ? "start\tend\ttext\n" : "";
}

std::string transcript_part(std::string_view format, uint64_t number, std::string_view text, double begin,
                            double end) {
  if (format == "txt") return fmt::format("{}\n", text);
  if (format == "tsv")
    return fmt::format("{}\t{}\t{}\n", milliseconds(begin), milliseconds(end),
                       host::one_line(replaced(std::string(text), "\t", " ")));
  const char point = format == "vtt" ? '.' : ',';
  // An arrow would end the text, and so would an empty line.
  std::string shown = replaced(std::string(text), "-->", "->");
  shown = replaced(replaced(shown, "\r", " "), "\n\n", "\n");
  const std::string times = fmt::format("{} --> {}\n{}\n\n", clock(begin, point), clock(end, point), shown);
  return format == "srt" ? fmt::format("{}\n{}", number, times) : times;
}

std::string transcript_text(const json& transcript, std::string_view format, const SubtitleLimits& limits) {
  if (format == "json") return transcript.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const auto segments = transcript.find("segments");
  // Words without titles are one line.
  const bool whole = format == "txt" && (segments == transcript.end() || transcript.contains("words"));
  if (whole) return transcript.at("text").get<std::string>() + "\n";
  std::string text(transcript_head(format));
  uint64_t number = 0;
  const auto take = [&](const Subtitle& one) {
    text += transcript_part(format, ++number, one.text, one.begin, one.end);
  };
  if (format == "srt" || format == "vtt") {
    each_subtitle(*segments, limits, take);
    return text;
  }
  for (const json& segment : *segments)
    take({host::trimmed(segment.at("text").get<std::string>()), segment.at("start"), segment.at("end")});
  return text;
}

}  // namespace mote::cli
