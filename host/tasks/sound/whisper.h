// SPDX-License-Identifier: Apache-2.0
//
// Whisper's decoding of a window of sound and of a whole one, as the original does it (openai/whisper,
// decoding.py and transcribe.py).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/run_guesses.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/sound/whisper_options.h"
#include "host/tasks/sound/whisper_rules.h"
#include "host/tasks/sound/whisper_search.h"
#include "mote/attention.h"

namespace mote::host {

/// The part of a sound that a decoder has heard.
struct WhisperWindow {
  uint32_t number;  // of those that the decoder has at once
  uint64_t first;   // frame of the sound
  uint32_t frames;  // that have sound
};

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

/// The way in which tokens are guessed, and the second model that guesses; null: none does.
struct GuessedBy {
  SpeculationOptions options;
  const Model* draft = nullptr;
};

/// A decoder with the sound of a window, or of several side by side.
class WhisperDecoder {
  static constexpr uint32_t kAlignedAtOnce = 64;  // tokens whose logits are held

 public:
  /// Fails as require_whisper does. Has room for the windows of a batch, or for as many as there is memory
  /// for, which the hooks are told. The model and the options must outlive the decoder.
  static Result<WhisperDecoder> make(const Model& model, const SessionChoices& choices,
                                     const WhisperOptions& options, Deflated deflated, const Hooks& hooks,
                                     const GuessedBy& guesses = {{Speculate::off}});

  const Model& model() const { return *model_; }
  const mote_sound_info& sound() const { return model_->sound(); }
  const WhisperTokens& tokens() const { return tokens_; }
  /// Returns how many windows there is room for.
  uint32_t windows() const { return windows_; }
  /// Returns the most ids in front of a window's text.
  size_t most_earlier() const { return context_ / 2 - 1; }
  /// Takes the features [frames, bins] of window number `window`, which begins at frame `first` of the sound.
  Status hear(uint32_t window, const std::vector<float>& features, uint64_t first, const Hooks& hooks);
  /// Returns the probability of each language that the model knows, by what is said in window 0.
  Result<std::vector<double>> language_probabilities(const Hooks& hooks);
  /// Decodes in a language from now on; models of one language have neither `id` nor `translate`. Where the
  /// user says the language, the token to transcribe stands behind it, else where the file has it so.
  void set_language(int32_t id, bool translate, bool by_user = false);
  /// Returns the texts of windows 0, 1, ..., which were heard, behind the ids of earlier text of each. A text
  /// is decoded at each of the temperatures until it is no failure, and is what the window alone gives.
  Result<std::vector<WhisperText>> decode(const std::vector<std::vector<int32_t>>& earlier,
                                          const Hooks& hooks);
  /// Computes the tokens of a window's text once more, without times and earlier text, and watches the heads
  /// that look where they are said. `frames` are positions of the source; shares are smoothed over `median`
  /// of them.
  Result<WhisperAlignment> align(uint32_t window, const std::vector<int32_t>& ids, uint32_t frames,
                                 const Hooks& hooks);
  Result<std::string> text_of(const std::vector<int32_t>& ids) const;
  /// Returns the ids of a text that stands in front of others.
  Result<std::vector<int32_t>> ids_of(const std::string& text) const;
  /// Returns what became of the guesses so far.
  GuessReport guesses() const;

 private:
  /// The ids that a window's first text goes on with.
  struct NextIds {
    uint32_t window;
    std::vector<int32_t> ids;
  };
  /// The texts of a window that are decoded.
  struct Decoded {
    uint32_t window;
    std::unique_ptr<WhisperSearch> search;
    size_t length = 0;                 // tokens of a text, with those in front of it
    std::vector<uint32_t> from = {0};  // which texts of the step before go on; none: all have ended
    double no_speech = 0;
  };
  using TakeLogits = std::function<void(size_t part, std::span<float> logits)>;

  WhisperDecoder(const Model& model, const WhisperTokens& tokens, const WhisperOptions& options,
                 Deflated deflated);
  Status begin_session(const SessionChoices& choices, uint32_t logit_rows, const Hooks& hooks);
  Status begin_guesses(const SessionChoices& choices, const GuessedBy& guesses);
  Status drop_guesses(size_t length);
  Result<bool> go_on_guessing(std::span<const int32_t> said, size_t before, const Hooks& hooks);
  int32_t draft_pick(std::span<const int32_t> said, std::span<const float> logits,
                     std::span<const int32_t> found);
  Result<std::vector<WhisperText>> decode_at(std::span<const NextIds> earlier, double temperature,
                                             const Hooks& hooks);
  Result<WhisperText> text_at(Decoded& decoded, double temperature) const;
  void consider(Decoded& decoded, uint32_t text, std::span<float> logits) const;
  Status begin_texts(std::vector<Decoded>& all, std::span<const NextIds> earlier, const Hooks& hooks);
  Status end_texts(std::vector<Decoded>& all, const Hooks& hooks);
  Status forget(uint32_t window);
  Status append(std::span<const NextIds> parts, const TakeLogits& take, const Hooks& hooks);
  Status go_on(std::vector<Decoded>& all, bool first, const Hooks& hooks);
  uint32_t sequence_of(uint32_t window) const { return window * texts_; }
  const float* logits(uint32_t row) const { return mote_session_logits(session_.get(), row); }
  std::vector<mote_watched_head> alignment_heads() const;
  Status run_watched(const NextIds& part, size_t first, size_t texts,
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
  std::optional<RunGuesses> guesses_;
  std::string no_guesses_;            // why there are none
  std::vector<float> allowed_;        // logits of the draft by the rules
  std::vector<float> heard_;          // features of the window, for the draft
  uint32_t context_, vocab_, texts_;  // texts of a window, each a sequence
  uint32_t windows_ = 1, chunk_ = 0, encoder_ = 0;
  std::vector<int32_t> begin_;           // tokens behind those of earlier text
  std::vector<std::mt19937_64> random_;  // of windows, so that each draws as if it were alone
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
/// itself; empty: no text is told. `report` gets what became of the guesses. Returns the language's code, or
/// "" where the model has but one.
Result<std::string> transcribe_whisper(const Model& model, const SessionChoices& choices, SoundInput& sound,
                                       const WhisperOptions& options, const Deflated& deflated,
                                       const Hooks& hooks, const OnPassage& found, const GuessedBy& guesses,
                                       GuessReport& report);

}  // namespace mote::host
