// SPDX-License-Identifier: Apache-2.0
//
// Transcribes the words of a sound, or of a picture, by whichever decoder a model is for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/cut_input.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {

/// The part of a sound that is heard: from `offset` on, `duration` long or to the end.
struct HeardPart {
  double offset = 0, duration = 0;  // seconds; duration 0: to the end

  bool operator==(const HeardPart&) const = default;
};

struct TranscribeOptions {
  HeardPart part;
  bool words = false;  // passages have their words
  bool vad = false;    // only stretches with speech are heard
  WhisperOptions whisper;
  GuessedBy guesses = {{Speculate::off}};  // tokens of Whisper's
  Deflated deflated;  // tells texts of Whisper's that repeat themselves, which are decoded again; empty: none
  std::string to;     // the language to write, of MOTE_TASK_TRANSCRIBE_BEAMS with several; "": the file's
};

struct Transcript {
  std::string language;  // of Whisper; "": there is but one
  bool heard = true;     // false: there was nothing to hear
  GuessReport guesses = {{}, "texts of a Whisper alone have guesses"};
};

/// Fails for a model that writes down no sound, and for options that it cannot honour.
Status require_speech(const Model& model, const TranscribeOptions& options);

/// Returns the part of a sound of a rate, which must outlive it.
CutInput part_of(SoundInput& sound, const HeardPart& part, uint32_t rate);

/// Transcribes a sound of any length, or a part of it; times are those of the whole. `found` gets each
/// passage as it is known, of MOTE_TASK_TRANSCRIBE_WORDS each word. Fails as require_speech does.
Result<Transcript> transcribe(const Model& model, const SessionChoices& choices, SoundInput& sound,
                              const TranscribeOptions& options, const Hooks& hooks, const OnPassage& found);

/// Puts the text of a whole sound together from its passages.
class WholeText {
 public:
  explicit WholeText(const Model& model);

  void add(const Passage& passage);
  std::string text() const;
  /// Returns the text of some of the words, or of a passage, as it is to be shown.
  std::string shown(const std::string& text) const;

 private:
  mote_model_task task_;
  bool cleans_up_;
  std::string text_;
};

/// Returns the text of a picture, by pixel values [3, height, width] as mote_model_get_picture says; `name`
/// begins messages about the picture.
Result<std::string> read_picture(const Model& model, const SessionChoices& choices,
                                 std::span<const float> pixels, const Hooks& hooks, std::string_view name);

}  // namespace mote::host
