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

uint32_t texts_at_once(const WhisperOptions& options) { return std::max(options.beams, options.best_of); }

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
      begin_{tokens.start},
      random_(kSeed) {
  set_language(-1, false);
}

Result<WhisperDecoder> WhisperDecoder::make(const Model& model, const SessionChoices& choices,
                                            const WhisperOptions& options, Deflated deflated) {
  MOTE_TRY(require_whisper(model));
  WhisperDecoder decoder(model, whisper_tokens(model), options, std::move(deflated));
  mote_session_options session = session_options(model, choices);
  session.batch = texts_at_once(options);
  session.logit_rows = std::max(session.batch, options.words ? kAlignedAtOnce : 1);
  session.context = model.info().context;
  session.chunk = std::max({model.sound().frames, session.context, session.batch});
  MOTE_TAKE(decoder.session_, Session::begin(model, session));
  return decoder;
}

Status WhisperDecoder::forget() {
  mote_error error = {};
  for (uint32_t i = 0; i < texts_at_once(*options_); ++i)
    MOTE_TRY(from_core(mote_session_truncate(session_.get(), i, 0, &error), error, model_->name()));
  return {};
}

Status WhisperDecoder::hear(const std::vector<float>& features, const Hooks& hooks) {
  MOTE_TRY(forget());
  const auto rows = static_cast<uint32_t>(features.size() / sound().bins);
  return encode_values(session_, features.data(), rows, hooks, model_->name());
}

/// Appends tokens to the first text and computes the logits behind the last.
Status WhisperDecoder::append(const std::vector<int32_t>& ids, const Hooks& hooks) {
  std::vector<mote_row> rows;
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({0, ids[i], 0, i + 1 == ids.size() ? 1u : 0u});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  return compute(session_, call, hooks, model_->name());
}

/// Goes on with texts, of which each continues an earlier one by its last token.
Status WhisperDecoder::go_on(const std::vector<uint32_t>& from, const std::vector<SaidText>& texts,
                             const Hooks& hooks) {
  std::vector<uint32_t> all(texts_at_once(*options_));
  bool moved = false;
  for (uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i < from.size() ? from[i] : i;
    moved = moved || all[i] != i;
  }
  mote_error error = {};
  if (moved)
    MOTE_TRY(from_core(mote_session_reorder(session_.get(), all.data(), &error), error, model_->name()));
  std::vector<mote_row> rows;
  for (uint32_t i = 0; i < texts.size(); ++i) rows.push_back({i, texts[i].ids.back(), 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  return compute(session_, call, hooks, model_->name());
}

Result<std::vector<double>> WhisperDecoder::language_probabilities(const Hooks& hooks) {
  MOTE_TRY(append({tokens_.start}, hooks));
  std::vector<float> known(model_->task_info().languages);
  for (uint32_t i = 0; i < known.size(); ++i) {
    int32_t id = 0;
    mote_model_language(model_->get(), i, &id);
    known[i] = logits(0)[id];
  }
  MOTE_TRY(forget());
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

/// Says texts behind `length` tokens, the last of which has logits, until they end.
Status WhisperDecoder::say(WhisperSearch& search, size_t length, const Hooks& hooks) {
  std::vector<float> allowed(vocab_);
  for (uint32_t step = 0; step < context_ / 2; ++step) {
    const auto texts = static_cast<uint32_t>(search.going().size());
    for (uint32_t i = 0; i < texts; ++i) {
      std::copy_n(logits(step == 0 ? 0 : i), vocab_, allowed.begin());
      rules_.apply(search.going()[i].ids, allowed);
      search.consider(i, allowed);
    }
    const std::vector<uint32_t> from = search.advance();
    if (from.empty() || ++length > context_) break;
    MOTE_TRY(go_on(step == 0 ? std::vector<uint32_t>(from.size(), 0) : from, search.going(), hooks));
  }
  return {};
}

Result<WhisperText> WhisperDecoder::decode_at(const std::vector<int32_t>& earlier, double temperature,
                                              const Hooks& hooks) {
  MOTE_TRY(forget());
  std::vector<int32_t> prompt;
  if (!earlier.empty() && tokens_.speech.previous >= 0) {
    const size_t kept = std::min<size_t>(earlier.size(), most_earlier());
    prompt.push_back(tokens_.speech.previous);
    prompt.insert(prompt.end(), earlier.end() - static_cast<ptrdiff_t>(kept), earlier.end());
  }
  prompt.push_back(tokens_.start);
  MOTE_TRY(append(prompt, hooks));
  WhisperText said{{}, "", temperature, 0, 0, 0};
  if (tokens_.speech.no_speech >= 0)
    said.no_speech =
        std::exp(static_cast<double>(logits(0)[tokens_.speech.no_speech]) - log_sum_exp({logits(0), vocab_}));
  if (begin_.size() > 1) MOTE_TRY(append({begin_.begin() + 1, begin_.end()}, hooks));
  const auto search = temperature == 0.0 && options_->beams > 1
                          ? searched_texts(options_->beams, tokens_.stop)
                          : drawn_texts(options_->best_of, temperature, tokens_.stop, random_);
  MOTE_TRY(say(*search, prompt.size() + begin_.size() - 1, hooks));
  const SaidText best = search->best();
  said.ids = best.ids;
  said.average_logprob = best.sum / static_cast<double>(best.ids.size() + 1);
  MOTE_TAKE(said.text, text_of(said.ids));
  said.compression = compression_of(said.text);
  return said;
}

bool WhisperDecoder::is_failure(const WhisperText& said) const {
  const bool repeats = options_->most_compression && said.compression > *options_->most_compression;
  const bool unlikely = options_->least_logprob && said.average_logprob < *options_->least_logprob;
  const bool silent = options_->silence && said.no_speech > *options_->silence && unlikely;
  return (repeats || unlikely) && !silent;
}

Result<WhisperText> WhisperDecoder::decode(const std::vector<int32_t>& earlier, const Hooks& hooks) {
  WhisperText said{};
  for (const double temperature : options_->temperatures) {
    MOTE_TAKE(said, decode_at(earlier, temperature, hooks));
    if (!is_failure(said)) break;
  }
  return said;
}

}  // namespace mote::host
