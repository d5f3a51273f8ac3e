// SPDX-License-Identifier: Apache-2.0
//
// Whisper's decoding of a window of sound and of a whole one, as the original does it (openai/whisper,
// decoding.py and transcribe.py).
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "host/media/mel_reader.h"
#include "mote/sound.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/passage.h"
#include "tools/mote/speech/whisper_rules.h"

namespace mote::cli {

/// How much longer a text is than what zlib makes of it: much, where it repeats itself.
double compression_ratio(const std::string& text);

/// A decoder with the sound of a window.
class WhisperDecoder {
 public:
  struct Result {
    std::vector<int32_t> ids;  // without those that begin and end the text
    std::string text;
    double temperature, average_logprob, compression, no_speech;
  };

  /// The file must outlive it. Throws convert::Error for a model that is none of Whisper's.
  WhisperDecoder(const ModelFile& file, const mote_session_options& options);

  const mote_model* model() const { return file_.model(); }
  const mote_sound_info& sound() const { return sound_; }
  const WhisperTokens& tokens() const { return tokens_; }
  /// Takes the features [frames, bins] of a window.
  void hear(const std::vector<float>& features);
  /// The likeliest language's number.
  uint32_t detect_language();
  /// `language` and `translate` hold for what is decoded from now on; models of one language have neither.
  /// Where the user says the language, the token to transcribe stands behind it, else where the file has it
  /// so.
  void set_language(int32_t id, bool translate, bool by_user = false);
  /// Follows the ids of earlier text; at rising temperatures until the text is no failure.
  Result decode(const std::vector<int32_t>& earlier);
  std::string text_of(const std::vector<int32_t>& ids) const;

 private:
  Result decode_at(const std::vector<int32_t>& earlier, double temperature);
  const float* append(const std::vector<int32_t>& ids);
  int32_t choose(const std::vector<float>& logits, double temperature);

  const ModelFile& file_;
  mote_sound_info sound_{};
  WhisperTokens tokens_;
  WhisperRules rules_;
  Session session_;
  uint32_t context_, vocab_;
  std::vector<int32_t> begin_;  // tokens behind those of earlier text
  std::mt19937_64 random_;
};

struct WhisperOptions {
  std::string language;  // a code; "": it is detected
  bool translate = false;
};

/// Transcribes a whole sound; `found` gets each passage as it is known. Returns the language's code, or ""
/// where the model has but one.
std::string transcribe_whisper(WhisperDecoder& decoder, SoundSource& source, const WhisperOptions& options,
                               const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
