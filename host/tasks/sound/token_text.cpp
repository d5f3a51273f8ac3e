// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/token_text.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/mel_features.h"
#include "host/tasks/sound/stretches.h"
#include "host/tasks/sound/token_words.h"
#include "host/tasks/sound/whisper_rules.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

/// Returns the seconds of a frame of outputs, which is of a whole number of rows of features.
double frame_seconds(const Model& model) {
  const uint32_t rows = token_rows(model), frames = mote_model_output_rows(model.get(), rows);
  const double rows_of_frame = std::round(static_cast<double>(rows) / std::max(1u, frames));
  return rows_of_frame * model.sound().hop / model.sound().rate;
}

/// Tells whether NeMo, and transformers after it, have a token of a transducer take no time.
bool is_mark(std::string_view text) {
  constexpr std::string_view kMarks[] = {"?", "'", "¡", "¿", "-", ":", ",", "%", "/", ".", "!"};
  return std::find(std::begin(kMarks), std::end(kMarks), text) != std::end(kMarks);
}

/// Puts the marks of a transducer to the end of the token before them.
Status place_marks(const Model& model, const std::vector<int32_t>& ids, std::vector<SaidToken>& said) {
  MOTE_TAKE(const std::vector<TokenWord> parts, words_of_tokens(model, ids, WordsAt::characters));
  for (const TokenWord& part : parts) {
    if (part.first == 0 || part.count != 1 || !is_mark(part.text)) continue;
    const SaidToken& before = said[part.first - 1];
    said[part.first].frame = before.frame + before.frames;
    said[part.first].frames = 0;
  }
  return {};
}

/// Returns the words of tokens whose frames take so many seconds and begin at `begin`.
Result<std::vector<SaidWord>> said_words(const Model& model, std::vector<SaidToken> said,
                                         const std::vector<int32_t>& ids, double begin, double seconds) {
  if (model.task() == MOTE_TASK_TRANSCRIBE_TRANSDUCER) MOTE_TRY(place_marks(model, ids, said));
  MOTE_TAKE(const std::vector<TokenWord> parts, words_of_tokens(model, ids, WordsAt::spaces));
  std::vector<SaidWord> words;
  for (const TokenWord& part : parts) {
    const SaidToken &first = said[part.first], &last = said[part.first + part.count - 1];
    double sum = 0;
    for (uint32_t i = 0; i < part.count; ++i) sum += said[part.first + i].probability;
    words.push_back({part.text, begin + first.frame * seconds, begin + (last.frame + last.frames) * seconds,
                     sum / part.count});
  }
  return words;
}

}  // namespace

double probability_at(std::span<const float> logits, size_t index) {
  return std::exp(static_cast<double>(logits[index]) - log_sum_exp(logits));
}

uint32_t token_rows(const Model& model) {
  return static_cast<uint32_t>(double{model.sound().longest} * model.sound().rate / model.sound().hop);
}

Status transcribe_tokens(const Model& model, SoundInput& sound, const HearTokens& hear, bool words,
                         const Hooks& hooks, const OnPassage& found) {
  MOTE_TRY(require_tokenizer(model, Remedy::convert_tokenizer));
  const mote_sound_info& info = model.sound();
  MelFeatures features(info);
  const double seconds = frame_seconds(model);
  const auto take = [&](std::span<const float> samples, uint64_t first) -> Status {
    MOTE_TAKE(const std::vector<float> rows, features.of(samples));
    const auto count = static_cast<uint32_t>(rows.size() / info.bins);
    const uint32_t frames = count == 0 ? 0 : mote_model_output_rows(model.get(), count);
    if (frames == 0) return {};  // too short to hear
    MOTE_TAKE(const std::vector<SaidToken> said, hear(rows, frames));
    if (said.empty()) return {};
    std::vector<int32_t> ids;
    for (const SaidToken& one : said) ids.push_back(one.id);
    MOTE_TAKE(const std::string text, text_of_ids(model, ids, 0));
    const double begin = static_cast<double>(first) / info.rate,
                 end = begin + static_cast<double>(samples.size()) / info.rate;
    Passage passage{text, begin + said.front().frame * seconds, begin + (said.back().frame + 1) * seconds};
    if (words) {
      MOTE_TAKE(passage.words, said_words(model, said, ids, begin, seconds));
    }
    // A duration, and the last frame, may lead behind the stretch.
    const auto cut = [&](auto& timed) {
      timed.begin = std::min(timed.begin, end);
      timed.end = std::min(timed.end, end);
    };
    cut(passage);
    for (SaidWord& word : passage.words) cut(word);
    found(passage);
    return {};
  };
  return read_stretches(sound, info.rate, double{info.longest}, hooks, take);
}

Status transcribe_ctc_tokens(const Model& model, const SessionChoices& choices, SoundInput& sound, bool words,
                             const Hooks& hooks, const OnPassage& found) {
  const mote_sound_info& info = model.sound();
  MOTE_TRY(require_tokenizer(model, Remedy::convert_tokenizer));
  mote_session_options options = session_options(model, choices);
  options.batch = 1;
  options.context = options.chunk = token_rows(model);
  options.logit_rows = std::max(1u, mote_model_output_rows(model.get(), options.chunk));
  MOTE_TAKE(Session session, Session::begin(model, options));
  const auto hear = [&](std::span<const float> features, uint32_t frames) -> Result<std::vector<SaidToken>> {
    const auto rows = static_cast<uint32_t>(features.size() / info.bins);
    MOTE_TRY(encode_values(session, features.data(), rows, hooks, model.name()));
    std::vector<SaidToken> said;
    int32_t last = info.blank;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const std::span logits(mote_session_output(session.get(), frame), model.output().width);
      const auto best = std::max_element(logits.begin(), logits.end());
      const auto id = static_cast<int32_t>(best - logits.begin());
      if (id != last && id != info.blank)
        said.push_back({id, frame, 1, words ? probability_at(logits, static_cast<size_t>(id)) : 0});
      else if (id != info.blank)
        ++said.back().frames;
      last = id;
    }
    return said;
  };
  return transcribe_tokens(model, sound, hear, words, hooks, found);
}

}  // namespace mote::host
