// SPDX-License-Identifier: Apache-2.0
//
// The passages of a window, by the times among its tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {

/// Cuts a window's tokens into passages.
class WindowCutter {
 public:
  /// All must outlive it.
  WindowCutter(const WhisperDecoder& decoder, const WhisperText& result, const WhisperWindow& window);

  /// Adds the passages that are whole, or all where there are no times between them, and returns how many
  /// frames of the window are done.
  Result<uint32_t> cut();
  /// Adds all passages: one whose end was not said ends with the window.
  Status cut_all();
  /// Tells whether the text ends with a single time: what follows it in the window is silent.
  bool ends_alone() const;
  std::vector<Passage> passages;  // also such as have no text

 private:
  bool is_time(size_t index) const { return tokens_.is_timestamp(result_.ids[index]); }
  double seconds(int32_t id) const;
  Status add_rest();
  Status add(size_t from, size_t to, double begin, double end);

  const WhisperDecoder& decoder_;
  const WhisperTokens& tokens_;
  const WhisperText& result_;
  double frame_seconds_, begin_;
  uint32_t frames_;
  size_t whole_ = 0;  // tokens of whole passages
};

/// Says whether a window's text is left out, since nobody speaks.
bool is_silent(const WhisperText& said, const WhisperOptions& options);

bool is_empty(const Passage& passage);

/// Returns the middle of the quietest tenth of a second in the last 8 seconds of features [frames, bins], or
/// in their second half if that is shorter.
uint32_t quietest_frame(std::span<const float> features, const mote_sound_info& sound);

}  // namespace mote::host
