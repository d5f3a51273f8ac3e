// SPDX-License-Identifier: Apache-2.0
//
// Where transcripts go: to standard output in a format, or to files in several, each of which is whole or
// not there.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mote/arguments.h"
#include "tools/mote/sound_paths.h"
#include "tools/mote/transcript.h"

namespace mote::cli {

struct TranscriptFlags {
  bool srt = false, vtt = false, json = false, words = false, resume = false;
  bool live = false, partial = false;  // as the sound comes
  std::string folder;
  std::optional<std::string> listen;  // a device
  std::optional<std::string> named;   // formats with commas between
  SubtitleLimits limits;

  bool writes_files() const { return !folder.empty(); }
  /// Returns the formats, "txt" where none is named. Throws UsageError for one that is none.
  std::vector<std::string> formats() const;
  /// Returns the one format of standard output.
  std::string format() const { return formats().front(); }
  /// Throws UsageError for options that do not go together.
  void check() const;
  /// Throws UsageError for formats with times, which texts of pictures do not have.
  void refuse_times() const;
};

void add_transcript_flags(Command& command, TranscriptFlags& flags);

bool is_folder(const std::string& path);

/// Returns the transcript of a sound; `place` is "3 of 10".
using Transcriber = std::function<nlohmann::json(const MediaPath& sound, std::string_view place)>;

/// Writes the files of each sound, or prints an object a line where there is no folder. A sound whose files
/// are all there is left out with `resume`. A sound that fails is told and the next one follows. Throws
/// convert::Error, at the end where sounds failed and at once for what is wrong with all, and UsageError for
/// names that would be one file's.
void each_transcript(const TranscriptFlags& flags, const std::vector<MediaPath>& sounds,
                     const Transcriber& transcriber);

}  // namespace mote::cli
