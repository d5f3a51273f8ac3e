// SPDX-License-Identifier: Apache-2.0
//
// Whisper's decoding of a window of sound and of a whole one, as the original does it (openai/whisper,
// decoding.py and transcribe.py).
#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/sound/whisper_rules.h"

namespace mote::host {

/// Returns how many bytes zlib makes of these.
using Deflated = std::function<size_t(std::span<const std::byte>)>;

struct WhisperOptions {
  std::string language;  // a code; "": it is detected
  bool translate = false;
  Deflated deflated;  // tells a text that repeats itself, which is decoded again; empty: no text is told
};

/// The meaning of a window's tokens.
struct WhisperText {
  std::vector<int32_t> ids;  // without those that begin and end the text
  std::string text;
  double temperature, average_logprob;
  double compression;  // how much longer the text is than what zlib makes of it
  double no_speech;
};

/// Fails for a model that is none of Whisper's, or has no tokenizer.
Status require_whisper(const Model& model);

/// A decoder with the sound of a window.
class WhisperDecoder {
 public:
  /// Fails as require_whisper does. The model must outlive the decoder.
  static Result<WhisperDecoder> make(const Model& model, const SessionChoices& choices, Deflated deflated);

  const Model& model() const { return *model_; }
  const mote_sound_info& sound() const { return model_->sound(); }
  const WhisperTokens& tokens() const { return tokens_; }
  /// Takes the features [frames, bins] of a window.
  Status hear(const std::vector<float>& features, const Hooks& hooks);
  /// Returns the likeliest language's number.
  Result<uint32_t> detect_language(const Hooks& hooks);
  /// Decodes in a language from now on; models of one language have neither `id` nor `translate`. Where the
  /// user says the language, the token to transcribe stands behind it, else where the file has it so.
  void set_language(int32_t id, bool translate, bool by_user = false);
  /// Returns the text that follows the ids of earlier text; it is decoded at rising temperatures until it is
  /// no failure.
  Result<WhisperText> decode(const std::vector<int32_t>& earlier, const Hooks& hooks);
  Result<std::string> text_of(const std::vector<int32_t>& ids) const;

 private:
  WhisperDecoder(const Model& model, const WhisperTokens& tokens, Deflated deflated);
  Result<WhisperText> decode_at(const std::vector<int32_t>& earlier, double temperature, const Hooks& hooks);
  Status say(const float* logits, size_t length, WhisperText& said, const Hooks& hooks);
  Result<const float*> append(const std::vector<int32_t>& ids, const Hooks& hooks);
  int32_t choose(const std::vector<float>& logits, double temperature);
  double compression_of(const std::string& text) const;

  const Model* model_;
  WhisperTokens tokens_;
  WhisperRules rules_;
  Deflated deflated_;
  Session session_;
  uint32_t context_, vocab_;
  std::vector<int32_t> begin_;  // tokens behind those of earlier text
  std::mt19937_64 random_;
};

/// Transcribes a whole sound; `found` gets each passage as it is known. Returns the language's code, or ""
/// where the model has but one.
Result<std::string> transcribe_whisper(const Model& model, const SessionChoices& choices, SoundInput& sound,
                                       const WhisperOptions& options, const Hooks& hooks,
                                       const OnPassage& found);

}  // namespace mote::host
