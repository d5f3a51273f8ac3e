// SPDX-License-Identifier: Apache-2.0
//
// Whisper's decoding of a window of sound and of a whole one, as the original does it (openai/whisper,
// decoding.py and transcribe.py).
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/sound/whisper_options.h"
#include "host/tasks/sound/whisper_rules.h"
#include "host/tasks/sound/whisper_search.h"
#include "mote/attention.h"

namespace mote::host {

/// The meaning of a window's tokens.
struct WhisperText {
  std::vector<int32_t> ids;  // without those that begin and end the text
  std::string text;
  double temperature, average_logprob;
  double compression;  // how much longer the text is than what zlib makes of it
  double no_speech;
};

/// How the tokens of a window's text lie over its sound.
struct WhisperAlignment {
  std::vector<float> costs;           // [tokens + 1, frames], the last of the token that ends the text
  std::vector<double> probabilities;  // [tokens], among those that are text
};

/// Fails for a model that is none of Whisper's, or has no tokenizer.
Status require_whisper(const Model& model);

/// A decoder with the sound of a window.
class WhisperDecoder {
  static constexpr uint32_t kAlignedAtOnce = 32;  // tokens whose logits are held

 public:
  /// Fails as require_whisper does. The model and the options must outlive the decoder.
  static Result<WhisperDecoder> make(const Model& model, const SessionChoices& choices,
                                     const WhisperOptions& options, Deflated deflated);

  const Model& model() const { return *model_; }
  const mote_sound_info& sound() const { return model_->sound(); }
  const WhisperTokens& tokens() const { return tokens_; }
  /// Returns the most ids in front of a window's text.
  size_t most_earlier() const { return context_ / 2 - 1; }
  /// Takes the features [frames, bins] of a window.
  Status hear(const std::vector<float>& features, const Hooks& hooks);
  /// Returns the probability of each language that the model knows.
  Result<std::vector<double>> language_probabilities(const Hooks& hooks);
  /// Decodes in a language from now on; models of one language have neither `id` nor `translate`. Where the
  /// user says the language, the token to transcribe stands behind it, else where the file has it so.
  void set_language(int32_t id, bool translate, bool by_user = false);
  /// Returns the text that follows the ids of earlier text; it is decoded at each of the temperatures until
  /// it is no failure.
  Result<WhisperText> decode(const std::vector<int32_t>& earlier, const Hooks& hooks);
  /// Computes the text's tokens once more, without times and earlier text, and watches the heads that look
  /// where they are said. `frames` are positions of the source; shares are smoothed over `median` of them.
  Result<WhisperAlignment> align(const std::vector<int32_t>& ids, uint32_t frames, const Hooks& hooks);
  Result<std::string> text_of(const std::vector<int32_t>& ids) const;
  /// Returns the ids of a text that stands in front of others.
  Result<std::vector<int32_t>> ids_of(const std::string& text) const;

 private:
  WhisperDecoder(const Model& model, const WhisperTokens& tokens, const WhisperOptions& options,
                 Deflated deflated);
  Result<WhisperText> decode_at(const std::vector<int32_t>& earlier, double temperature, const Hooks& hooks);
  Status say(WhisperSearch& search, size_t length, const Hooks& hooks);
  Status forget();
  Status append(const std::vector<int32_t>& ids, const Hooks& hooks);
  Status go_on(const std::vector<uint32_t>& from, const std::vector<SaidText>& texts, const Hooks& hooks);
  const float* logits(uint32_t row) const { return mote_session_logits(session_.get(), row); }
  std::vector<mote_watched_head> alignment_heads() const;
  Status run_watched(const std::vector<int32_t>& ids, size_t first, size_t texts,
                     const std::function<void(uint32_t)>& begin_run, WhisperAlignment& found,
                     const Hooks& hooks);
  bool is_failure(const WhisperText& said) const;
  double compression_of(const std::string& text) const;

  const Model* model_;
  const WhisperOptions* options_;
  WhisperTokens tokens_;
  WhisperRules rules_;
  Deflated deflated_;
  Session session_;
  uint32_t context_, vocab_;
  std::vector<int32_t> begin_;  // tokens behind those of earlier text
  std::mt19937_64 random_;
};

struct LanguageProbability {
  std::string code;
  double probability;
};

/// Returns the languages that may be spoken in the first window of a sound, the likelier first; of a model
/// that knows English alone, that.
Result<std::vector<LanguageProbability>> detect_language(const Model& model, const SessionChoices& choices,
                                                         SoundInput& sound, const Hooks& hooks);

/// Transcribes a whole sound; `found` gets each passage as it is known. `deflated` tells a text that repeats
/// itself; empty: no text is told. Returns the language's code, or "" where the model has but one.
Result<std::string> transcribe_whisper(const Model& model, const SessionChoices& choices, SoundInput& sound,
                                       const WhisperOptions& options, const Deflated& deflated,
                                       const Hooks& hooks, const OnPassage& found);

}  // namespace mote::host
