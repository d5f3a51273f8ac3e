// SPDX-License-Identifier: Apache-2.0
//
// Transducers of tokens and durations (Xu et al. 2023): a decoder that is asked about one frame after
// another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <functional>

#include "host/media/sound_file.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/token_text.h"

namespace mote::cli {

/// Over a session of at least two sequences: the first holds the tokens said before the last one, the second
/// is for asking.
class Transducer {
 public:
  using Said = SaidToken;

  /// The session must outlive it.
  Transducer(const ModelFile& file, Session& session);

  /// Floats of a frame, labels besides durations.
  uint32_t width() const { return width_; }
  uint32_t labels() const { return vocab_ - static_cast<uint32_t>(durations_.size()); }
  /// The encoder's outputs for rows of its input, [frames, width].
  std::vector<float> encode(std::span<const float> values);
  /// Forgets all tokens.
  void clear();
  /// Logits of labels, then of durations, behind the tokens and `last`; valid until the next call.
  std::span<const float> ask(int32_t last, const float* frame);
  /// Keeps the token that was asked with last.
  void keep();
  /// The likeliest tokens of all frames; at most `most`.
  std::vector<Said> say(std::span<const float> frames, size_t most);

 private:
  const ModelFile& file_;
  Session& session_;
  uint32_t width_, vocab_;
  std::vector<uint32_t> durations_;
};

/// Transcribes a sound in stretches; `found` gets the text of each. Throws convert::Error for a model without
/// a tokenizer.
void transcribe_transducer(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                           const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
