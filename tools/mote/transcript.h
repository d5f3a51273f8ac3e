// SPDX-License-Identifier: Apache-2.0
//
// Transcripts, as mote_host_transcribe returns them, in the formats of files.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace mote::cli {

inline constexpr const char* kTranscriptFormats[] = {"txt", "srt", "vtt", "tsv", "json"};

/// How words are put into subtitles. Where either is none a subtitle is of one segment.
struct SubtitleLimits {
  std::optional<uint32_t> width;  // characters of a line
  std::optional<uint32_t> count;  // lines of a subtitle
};

/// Returns what stands before the first subtitle, or line, of a format.
std::string_view transcript_head(std::string_view format);
/// Returns a segment in a format other than json; `number` counts from 1.
std::string transcript_part(std::string_view format, uint64_t number, std::string_view text, double begin,
                            double end);
/// Returns a whole transcript. Its words, where it has them, are put into subtitles as openai/whisper does
/// it.
std::string transcript_text(const nlohmann::json& transcript, std::string_view format,
                            const SubtitleLimits& limits);

}  // namespace mote::cli
