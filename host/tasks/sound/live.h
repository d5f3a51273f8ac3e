// SPDX-License-Identifier: Apache-2.0
//
// Sound that is transcribed while it is made: a stretch of speech once it is over, and before that as much of
// it as there is.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/tasks/sound/transcribe.h"

namespace mote::host {

/// Transcribes a stretch of sound.
using HearStretch = std::function<Result<Transcript>(SoundInput& stretch, const TranscribeOptions& options,
                                                     const OnPassage& found)>;

/// A text that may still change, of which the first `agreed` bytes stood in the text before, too (local
/// agreement, Liu et al. 2020).
using OnPartial = std::function<void(std::string_view text, size_t agreed)>;

/// The time from when a stretch was over, as far as its last sample was read, to its text.
struct Latency {
  uint32_t stretches = 0;
  double sum = 0, most = 0;  // seconds
};

struct LiveTranscript {
  Transcript transcript;
  Latency latency;
};

/// Transcribes a sound as it comes, stretch by stretch; `ended` is called behind the passages of each. A
/// stretch is of 28 seconds at most, or of what the model hears at once. `partial`, unless it is empty, gets
/// the text of a stretch that goes on, once for each second of it; since all of it is heard again, less often
/// where that takes more than half of the time. A language that is heard in the first stretch is that of all.
/// Fails as require_speech does.
Result<LiveTranscript> transcribe_live(const Model& model, SoundInput& sound,
                                       const TranscribeOptions& options, const Hooks& hooks,
                                       const HearStretch& hear, const OnPassage& found,
                                       const std::function<void()>& ended, const OnPartial& partial);

/// Returns how many bytes of a text, whole words, another one begins with.
size_t agreed_bytes(std::string_view text, std::string_view other);

}  // namespace mote::host
