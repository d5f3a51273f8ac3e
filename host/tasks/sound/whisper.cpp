// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint64_t kSeed = 1;

WhisperTokens whisper_tokens(const Model& model) {
  WhisperTokens tokens;
  mote_model_get_speech(model.get(), &tokens.speech);
  tokens.start = model.info().bos_id;
  tokens.stop = model.info().stop_ids[0];
  return tokens;
}

}  // namespace

Status require_whisper(const Model& model) {
  if (model.task() != MOTE_TASK_TRANSCRIBE_WINDOWS)
    return failed("{} does not take Whisper's features", model.name());
  if (model.info().bos_id < 0 || model.info().stop_count == 0 || !model.has_tokenizer())
    return failed("{} has no tokenizer, or names no tokens that begin and end a text", model.name());
  return {};
}

WhisperDecoder::WhisperDecoder(const Model& model, const WhisperTokens& tokens, const WhisperOptions& options,
                               Deflated deflated)
    : model_(&model),
      options_(&options),
      tokens_(tokens),
      rules_(tokens, options.suppressed, options.timestamps),
      deflated_(std::move(deflated)),
      context_(model.info().context),
      vocab_(model.info().vocab),
      texts_(std::max(options.beams, options.best_of)),
      windows_(std::max(1u, options.batch)),
      begin_{tokens.start} {
  set_language(-1, false);
}

Result<WhisperDecoder> WhisperDecoder::make(const Model& model, const SessionChoices& choices,
                                            const WhisperOptions& options, Deflated deflated,
                                            const Hooks& hooks, const GuessedBy& guesses) {
  MOTE_TRY(require_whisper(model));
  WhisperDecoder decoder(model, whisper_tokens(model), options, std::move(deflated));
  decoder.encoder_ = model.encoder();
  MOTE_TRY(decoder.begin_session(choices, guesses.options.logit_rows(), hooks));
  MOTE_TRY(decoder.begin_guesses(choices, guesses));
  decoder.random_.resize(decoder.windows_);
  return decoder;
}

/// Begins a session for the windows, or for half as many until there is memory for them.
Status WhisperDecoder::begin_session(const SessionChoices& choices, uint32_t logit_rows, const Hooks& hooks) {
  const uint32_t wanted = windows_;
  size_t refused = 0;
  for (;; windows_ /= 2) {
    mote_session_options session = session_options(*model_, choices);
    session.batch = windows_ * texts_;
    session.logit_rows = std::max({session.batch, logit_rows, options_->words ? kAlignedAtOnce : 1});
    session.context = context_;
    session.chunk = chunk_ = std::max({sound().frames, session.context, session.logit_rows});
    Result<Session> begun = Session::begin(*model_, session);
    if (begun.ok()) {
      session_ = *std::move(begun);
      break;
    }
    if (windows_ == 1 || begun.status().code() != MOTE_OUT_OF_MEMORY) return begun.status();
    if (refused == 0) refused = mote_session_bytes(model_->get(), &session);
  }
  if (windows_ != wanted)
    hooks.say("{} windows at once need {}, which there is not; {} at once need {}", wanted,
              human_bytes(refused), windows_, human_bytes(session_.arena_bytes()));
  return {};
}

/// Forgets the texts of a window; its sound stays.
Status WhisperDecoder::forget(uint32_t window) {
  mote_error error = {};
  for (uint32_t i = 0; i < texts_; ++i)
    MOTE_TRY(from_core(mote_session_truncate(session_.get(), sequence_of(window) + i, 0, &error), error,
                       model_->name()));
  return {};
}

Status WhisperDecoder::hear(uint32_t window, const std::vector<float>& features, uint64_t first,
                            const Hooks& hooks) {
  MOTE_TRY(forget(window));
  random_[window].seed(kSeed + first);
  if (guesses_ && guesses_->draft() != nullptr) {
    heard_ = features;
    guesses_->draft()->hear(heard_);
  }
  const std::vector<mote_row> rows(features.size() / sound().bins, mote_row{sequence_of(window), 0, 0, 0});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = encoder_;
  call.values = features.data();
  return compute(session_, call, hooks, model_->name());
}

/// Appends ids to the first texts of windows and takes the logits behind the last id of each.
Status WhisperDecoder::append(std::span<const NextIds> parts, const TakeLogits& take, const Hooks& hooks) {
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    std::vector<mote_row> rows;
    while (end < parts.size() && rows.size() + parts[end].ids.size() <= chunk_) {
      const NextIds& part = parts[end++];
      for (const int32_t id : part.ids) rows.push_back({sequence_of(part.window), id, 0, 0});
      rows.back().wants_output = 1;
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    MOTE_TRY(compute(session_, call, hooks, model_->name()));
    std::vector<float> copied(vocab_);
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(logits(static_cast<uint32_t>(i - begin)), vocab_, copied.begin());
      take(i, copied);
    }
  }
  return {};
}

/// Goes on with the texts of windows, of which each continues an earlier one by its last token.
Status WhisperDecoder::go_on(std::vector<Decoded>& all, bool first, const Hooks& hooks) {
  std::vector<uint32_t> from(size_t{windows_} * texts_);
  for (uint32_t i = 0; i < from.size(); ++i) from[i] = i;
  bool moved = false;
  std::vector<mote_row> rows;
  for (const Decoded& one : all) {
    const uint32_t sequence = sequence_of(one.window);
    for (uint32_t i = 0; i < one.from.size(); ++i) {
      from[sequence + i] = sequence + (first ? 0 : one.from[i]);
      moved = moved || from[sequence + i] != sequence + i;
      rows.push_back({sequence + i, one.search->going()[i].ids.back(), 0, 1});
    }
  }
  mote_error error = {};
  if (moved)
    MOTE_TRY(from_core(mote_session_reorder(session_.get(), from.data(), &error), error, model_->name()));
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  return compute(session_, call, hooks, model_->name());
}

Result<std::vector<double>> WhisperDecoder::language_probabilities(const Hooks& hooks) {
  std::vector<float> known(model_->task_info().languages);
  const NextIds start{0, {tokens_.start}};
  MOTE_TRY(append(
      {&start, 1},
      [&](size_t, std::span<const float> logits) {
        for (uint32_t i = 0; i < known.size(); ++i) {
          int32_t id = 0;
          mote_model_language(model_->get(), i, &id);
          known[i] = logits[static_cast<size_t>(id)];
        }
      },
      hooks));
  MOTE_TRY(forget(0));
  const double all = log_sum_exp(known);
  std::vector<double> probabilities;
  for (const float logit : known) probabilities.push_back(std::exp(static_cast<double>(logit) - all));
  return probabilities;
}

void WhisperDecoder::set_language(int32_t id, bool translate, bool by_user) {
  const mote_speech_info& speech = tokens_.speech;
  const bool named = id >= 0 && (by_user || speech.names_task != 0);
  begin_ = {tokens_.start, id,
            translate ? speech.translate
            : named   ? speech.transcribe
                      : -1,
            options_->timestamps ? -1 : speech.no_timestamps};
  std::erase(begin_, -1);
}

Result<std::string> WhisperDecoder::text_of(const std::vector<int32_t>& ids) const {
  std::vector<int32_t> said(ids);
  std::erase_if(said, [&](int32_t id) { return id >= tokens_.stop; });
  return text_of_ids(*model_, said, 0);
}

Result<std::vector<int32_t>> WhisperDecoder::ids_of(const std::string& text) const {
  const std::string said = trimmed(text);
  if (said.empty()) return std::vector<int32_t>();
  return tokenize(*model_, session_, " " + said, 0);
}

double WhisperDecoder::compression_of(const std::string& text) const {
  const std::string said = trimmed(text);
  if (!deflated_) return 0;
  return static_cast<double>(said.size()) / static_cast<double>(deflated_(std::as_bytes(std::span(said))));
}

/// Gives a search the logits of the next token of one of its texts.
void WhisperDecoder::consider(Decoded& decoded, uint32_t text, std::span<float> logits) const {
  rules_.apply(decoded.search->going()[text].ids, logits);
  decoded.search->consider(text, logits);
}

/// Computes what stands in front of the texts, which have their first logits then.
Status WhisperDecoder::begin_texts(std::vector<Decoded>& all, std::span<const NextIds> earlier,
                                   const Hooks& hooks) {
  const auto consider_first = [&](size_t i, std::span<float> logits) {
    for (uint32_t text = 0; text < all[i].search->going().size(); ++text) {
      std::vector<float> of_text(logits.begin(), logits.end());
      consider(all[i], text, of_text);
    }
  };
  std::vector<NextIds> prompts, rest;
  for (size_t i = 0; i < all.size(); ++i) {
    NextIds prompt{all[i].window, {}};
    if (const std::vector<int32_t>& ids = earlier[i].ids; !ids.empty() && tokens_.speech.previous >= 0) {
      const size_t kept = std::min<size_t>(ids.size(), most_earlier());
      prompt.ids.push_back(tokens_.speech.previous);
      prompt.ids.insert(prompt.ids.end(), ids.end() - static_cast<ptrdiff_t>(kept), ids.end());
    }
    prompt.ids.push_back(tokens_.start);
    all[i].length = prompt.ids.size() + begin_.size() - 1;
    prompts.push_back(std::move(prompt));
    rest.push_back({all[i].window, {begin_.begin() + 1, begin_.end()}});
  }
  const bool is_all = begin_.size() == 1;
  MOTE_TRY(append(
      prompts,
      [&](size_t i, std::span<float> logits) {
        if (const int32_t id = tokens_.speech.no_speech; id >= 0)
          all[i].no_speech =
              std::exp(static_cast<double>(logits[static_cast<size_t>(id)]) - log_sum_exp(logits));
        if (is_all) consider_first(i, logits);
      },
      hooks));
  return is_all ? Status() : append(rest, consider_first, hooks);
}

/// Goes on with texts, whose first logits were considered, until all have ended.
Status WhisperDecoder::end_texts(std::vector<Decoded>& all, const Hooks& hooks) {
  std::vector<float> allowed(vocab_);
  uint32_t first_row = 0;  // of the step's logits
  if (guesses_) guesses_->forget();
  for (uint32_t step = 1; step <= context_ / 2; ++step) {
    const bool was_alone = guesses_ && all[0].search->going().size() == 1;
    bool any = false;
    for (Decoded& one : all) {
      if (one.from.empty()) continue;
      one.from = one.search->advance();
      if (one.from.empty() || ++one.length > context_) one.from.clear();
      any = any || !one.from.empty();
    }
    if (!any || step == context_ / 2) break;
    if (was_alone && all[0].from.size() == 1) {
      MOTE_TAKE(const bool known, go_on_guessing(all[0].search->going()[0].ids, all[0].length - 1, hooks));
      first_row = known ? first_row + 1 : 0;
    } else {
      if (guesses_) MOTE_TRY(drop_guesses(all[0].length - 1));
      MOTE_TRY(go_on(all, step == 1, hooks));
      first_row = 0;
    }
    uint32_t row = first_row;
    for (Decoded& one : all) {
      for (uint32_t i = 0; i < one.from.size(); ++i, ++row) {
        std::copy_n(logits(row), vocab_, allowed.begin());
        consider(one, i, allowed);
      }
    }
  }
  return {};
}

Result<WhisperText> WhisperDecoder::text_at(Decoded& decoded, double temperature) const {
  const SaidText best = decoded.search->best();
  WhisperText said{best.ids, "", temperature, 0, 0, decoded.no_speech};
  said.average_logprob = best.sum / static_cast<double>(best.ids.size() + 1);
  MOTE_TAKE(said.text, text_of(said.ids));
  said.compression = compression_of(said.text);
  return said;
}

Result<std::vector<WhisperText>> WhisperDecoder::decode_at(std::span<const NextIds> earlier,
                                                           double temperature, const Hooks& hooks) {
  std::vector<Decoded> all;
  for (const NextIds& one : earlier) {
    MOTE_TRY(forget(one.window));
    const bool searches = temperature == 0.0 && options_->beams > 1;
    all.push_back({one.window, searches ? searched_texts(options_->beams, tokens_.stop)
                                        : drawn_texts(options_->best_of, temperature, tokens_.stop,
                                                      random_[one.window])});
  }
  MOTE_TRY(begin_texts(all, earlier, hooks));
  MOTE_TRY(end_texts(all, hooks));
  std::vector<WhisperText> said(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    MOTE_TAKE(said[i], text_at(all[i], temperature));
  }
  return said;
}

bool WhisperDecoder::is_failure(const WhisperText& said) const {
  const bool repeats = options_->most_compression && said.compression > *options_->most_compression;
  const bool unlikely = options_->least_logprob && said.average_logprob < *options_->least_logprob;
  const bool silent = options_->silence && said.no_speech > *options_->silence && unlikely;
  return (repeats || unlikely) && !silent;
}

Result<std::vector<WhisperText>> WhisperDecoder::decode(const std::vector<std::vector<int32_t>>& earlier,
                                                        const Hooks& hooks) {
  std::vector<WhisperText> said(earlier.size());
  std::vector<NextIds> left;
  for (uint32_t i = 0; i < earlier.size(); ++i) left.push_back({i, earlier[i]});
  for (const double temperature : options_->temperatures) {
    MOTE_TAKE(std::vector<WhisperText> found, decode_at(left, temperature, hooks));
    std::vector<NextIds> failures;
    for (size_t i = 0; i < left.size(); ++i) {
      WhisperText& text = said[left[i].window];
      text = std::move(found[i]);
      if (is_failure(text)) failures.push_back(std::move(left[i]));
    }
    left = std::move(failures);
    if (left.empty()) break;
  }
  return said;
}

}  // namespace mote::host
