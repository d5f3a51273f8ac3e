// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/transcribe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/sound/ctc.h"
#include "host/tasks/sound/searched_text.h"
#include "host/tasks/sound/source_text.h"
#include "host/tasks/sound/spoken_input.h"
#include "host/tasks/sound/token_text.h"
#include "host/tasks/sound/transducer.h"
#include "host/tasks/source_search.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint64_t kShortestSounds = 40;  // in a second: windows of features are as long

}  // namespace

Status require_speech(const Model& model, const TranscribeOptions& options) {
  if (model.sound().rate == 0) return failed("{} does not take sound", model.name());
  const bool windows = model.task() == MOTE_TASK_TRANSCRIBE_WINDOWS;
  if (!windows && options.whisper != WhisperOptions())
    return failed(Remedy::whisper_alone, "{} is no Whisper", model.name());
  if (model.task() != MOTE_TASK_TRANSCRIBE_BEAMS && !options.to.empty())
    return failed(Remedy::speech2text_alone, "{} writes one language", model.name());
  const bool has_words =
      model.task() != MOTE_TASK_TRANSCRIBE_GREEDY && model.task() != MOTE_TASK_TRANSCRIBE_BEAMS;
  if (options.words && !has_words) return failed("{} does not say when a word is said", model.name());
  if (options.vad && model.sound().rate != MOTE_SPEECH_RATE)
    return failed("{} takes sound of another rate than {}, at which speech is found", model.name(),
                  static_cast<uint32_t>(MOTE_SPEECH_RATE));
  return windows ? require_whisper(model) : Status();
}

namespace {

/// Transcribes a sound by the decoder of the model's task.
Result<Transcript> decode(const Model& model, const SessionChoices& choices, SoundInput& sound,
                          const TranscribeOptions& options, const Hooks& hooks, const OnPassage& found) {
  Transcript transcript;
  switch (model.task()) {
    case MOTE_TASK_TRANSCRIBE_WORDS:
      MOTE_TRY(transcribe_ctc(model, choices, sound, hooks, found));
      break;
    case MOTE_TASK_TRANSCRIBE_TOKENS:
      MOTE_TRY(transcribe_ctc_tokens(model, choices, sound, options.words, hooks, found));
      break;
    case MOTE_TASK_TRANSCRIBE_TRANSDUCER:
      MOTE_TRY(transcribe_transducer(model, choices, sound, options.words, hooks, found));
      break;
    case MOTE_TASK_TRANSCRIBE_BEAMS: {
      MOTE_TAKE(transcript.heard, transcribe_searched(model, choices, sound, options.to, hooks, found));
      break;
    }
    case MOTE_TASK_TRANSCRIBE_GREEDY:
      MOTE_TRY(transcribe_source(model, choices, sound, hooks, found));
      break;
    case MOTE_TASK_TRANSCRIBE_WINDOWS: {
      WhisperOptions whisper = options.whisper;
      whisper.words = options.words;
      MOTE_TAKE(transcript.language, transcribe_whisper(model, choices, sound, whisper, options.deflated,
                                                        hooks, found, options.guesses, transcript.guesses));
      break;
    }
    default:
      return failed("{} hears, but has no head that writes text", model.name());
  }
  return transcript;
}

}  // namespace

CutInput part_of(SoundInput& sound, const HeardPart& part, uint32_t rate) {
  const auto samples = [&](double seconds) {
    return seconds * rate < 1e18 ? static_cast<uint64_t>(std::llround(seconds * rate)) : UINT64_MAX;
  };
  return {sound, samples(part.offset), part.duration == 0 ? UINT64_MAX : samples(part.duration)};
}

Result<Transcript> transcribe(const Model& model, const SessionChoices& choices, SoundInput& sound,
                              const TranscribeOptions& options, const Hooks& hooks, const OnPassage& found) {
  MOTE_TRY(require_speech(model, options));
  CutInput part = part_of(sound, options.part, model.sound().rate);
  ToldInput told(part, hooks);
  const bool tells = model.task() != MOTE_TASK_TRANSCRIBE_WINDOWS;  // Whisper's reader of features does
  SoundInput& all = tells ? static_cast<SoundInput&>(told) : part;
  SpokenInput spoken(all);
  bool found_any = false;
  const auto whole = [&](double begin, double end) {
    const auto span = options.vad ? spoken.whole_span(begin, end) : SpokenInput::Span{begin, end};
    return SpokenInput::Span{span.begin + options.part.offset, span.end + options.part.offset};
  };
  MOTE_TAKE(Transcript transcript,
            decode(model, choices, options.vad ? spoken : all, options, hooks, [&](const Passage& passage) {
              found_any = true;
              found(moved_passage(passage, whole));
            }));
  const bool heard = options.vad ? spoken.any() : part.heard() * kShortestSounds >= model.sound().rate;
  transcript.heard = transcript.heard && (found_any || heard);
  return transcript;
}

WholeText::WholeText(const Model& model)
    : task_(model.task()),
      cleans_up_(task_ == MOTE_TASK_TRANSCRIBE_WORDS && mote_sound_cleans_up(model.get()) != 0) {}

/// Adds a passage. Whisper's go on where the last one ended; words may have spaces behind them, which count.
void WholeText::add(const Passage& passage) {
  const bool windows = task_ == MOTE_TASK_TRANSCRIBE_WINDOWS;
  if (!windows && !text_.empty()) text_ += " ";
  const bool as_it_is = windows || task_ == MOTE_TASK_TRANSCRIBE_WORDS;
  text_ += as_it_is ? passage.text : trimmed(passage.text);
}

std::string WholeText::text() const { return shown(text_); }

std::string WholeText::shown(const std::string& text) const {
  return cleans_up_ ? cleaned_up(trimmed(text)) : trimmed(text);
}

Result<std::string> read_picture(const Model& model, const SessionChoices& choices,
                                 std::span<const float> pixels, const Hooks& hooks, std::string_view name) {
  MOTE_TRY(require_source_text(model));
  mote_picture_info picture;
  mote_error error = {};
  MOTE_TRY(from_core(mote_model_get_picture(model.get(), &picture, &error), error, model.name()));
  std::vector<float> rows(size_t{picture.rows} * picture.row_width);
  mote_picture_rows(&picture, pixels.data(), rows.data());
  mote_session_options options = session_options(model, choices);
  const mote_beam_options search =
      bounded_search(model, options.context, mote_model_beam_options(model.get()));
  options.context = search.max_tokens;
  options.batch = options.logit_rows = search.beams;
  options.chunk = std::max(picture.rows, search.beams);
  MOTE_TAKE(Session session, Session::begin(model, options));
  MOTE_TRY(encode_values(session, rows.data(), picture.rows, hooks, name));
  std::vector<uint64_t> memory;
  MOTE_TAKE(const std::vector<SourceHypothesis> found, search_encoded(model, session, search, memory, hooks));
  return text_of_ids(model, found.front().ids, MOTE_SKIP_SPECIAL);
}

}  // namespace mote::host
