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
constexpr double kTemperatures[] = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
constexpr double kMostCompression = 2.4, kUnlikely = -1.0, kSilent = 0.6;

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

WhisperDecoder::WhisperDecoder(const Model& model, const WhisperTokens& tokens, Deflated deflated)
    : model_(&model),
      tokens_(tokens),
      rules_(tokens),
      deflated_(std::move(deflated)),
      context_(model.info().context),
      vocab_(model.info().vocab),
      begin_{tokens.start},
      random_(kSeed) {}

Result<WhisperDecoder> WhisperDecoder::make(const Model& model, const SessionChoices& choices,
                                            Deflated deflated) {
  MOTE_TRY(require_whisper(model));
  WhisperDecoder decoder(model, whisper_tokens(model), std::move(deflated));
  mote_session_options options = session_options(model, choices);
  options.batch = options.logit_rows = 1;
  options.context = model.info().context;
  options.chunk = std::max(model.sound().frames, options.context);
  MOTE_TAKE(decoder.session_, Session::begin(model, options));
  return decoder;
}

Status WhisperDecoder::hear(const std::vector<float>& features, const Hooks& hooks) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
  const auto rows = static_cast<uint32_t>(features.size() / sound().bins);
  return encode_values(session_, features.data(), rows, hooks, model_->name());
}

/// Returns the logits behind further tokens.
Result<const float*> WhisperDecoder::append(const std::vector<int32_t>& ids, const Hooks& hooks) {
  std::vector<mote_row> rows;
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({0, ids[i], 0, i + 1 == ids.size() ? 1u : 0u});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  MOTE_TRY(compute(session_, call, hooks, model_->name()));
  return mote_session_logits(session_.get(), 0);
}

Result<uint32_t> WhisperDecoder::detect_language(const Hooks& hooks) {
  MOTE_TAKE(const float* logits, append({tokens_.start}, hooks));
  uint32_t best = 0;
  float most = -INFINITY;
  for (uint32_t i = 0; i < model_->task_info().languages; ++i) {
    int32_t id = 0;
    mote_model_language(model_->get(), i, &id);
    if (logits[id] > most) {
      most = logits[id];
      best = i;
    }
  }
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
  return best;
}

void WhisperDecoder::set_language(int32_t id, bool translate, bool by_user) {
  const mote_speech_info& speech = tokens_.speech;
  const bool named = by_user || speech.names_task != 0;
  begin_ = {tokens_.start, id, translate ? speech.translate : named ? speech.transcribe : -1};
  std::erase(begin_, -1);
}

int32_t WhisperDecoder::choose(const std::vector<float>& logits, double temperature) {
  const auto best = std::max_element(logits.begin(), logits.end());
  if (temperature == 0.0) return static_cast<int32_t>(best - logits.begin());
  const auto weight = [&](float logit) { return std::exp(static_cast<double>(logit - *best) / temperature); };
  double sum = 0;
  for (const float logit : logits) sum += weight(logit);
  double left = std::uniform_real_distribution<double>(0.0, sum)(random_);
  for (size_t i = 0; i < logits.size(); ++i) {
    left -= weight(logits[i]);
    if (left < 0) return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(best - logits.begin());
}

Result<std::string> WhisperDecoder::text_of(const std::vector<int32_t>& ids) const {
  std::vector<int32_t> said(ids);
  std::erase_if(said, [&](int32_t id) { return id >= tokens_.stop; });
  return text_of_ids(*model_, said, 0);
}

double WhisperDecoder::compression_of(const std::string& text) const {
  const size_t first = text.find_first_not_of(" \n\t"), last = text.find_last_not_of(" \n\t");
  const std::string_view said = first == std::string::npos
                                    ? std::string_view()
                                    : std::string_view(text).substr(first, last - first + 1);
  if (!deflated_) return 0;
  return static_cast<double>(said.size()) / static_cast<double>(deflated_(std::as_bytes(std::span(said))));
}

/// Says tokens behind `length` others, whose logits are given, until the text ends.
Status WhisperDecoder::say(const float* logits, size_t length, WhisperText& said, const Hooks& hooks) {
  double sum = 0;
  std::vector<float> allowed(vocab_);
  for (uint32_t step = 0; step < context_ / 2; ++step) {
    std::copy_n(logits, vocab_, allowed.begin());
    rules_.apply(said.ids, allowed);
    const int32_t id = choose(allowed, said.temperature);
    sum += static_cast<double>(allowed[static_cast<size_t>(id)]) - log_sum_exp(allowed);
    if (id == tokens_.stop) break;
    said.ids.push_back(id);
    if (++length > context_) break;
    MOTE_TAKE(logits, append({id}, hooks));
  }
  said.average_logprob = sum / static_cast<double>(said.ids.size() + 1);
  return {};
}

Result<WhisperText> WhisperDecoder::decode_at(const std::vector<int32_t>& earlier, double temperature,
                                              const Hooks& hooks) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
  std::vector<int32_t> prompt;
  if (!earlier.empty() && tokens_.speech.previous >= 0) {
    const size_t kept = std::min<size_t>(earlier.size(), context_ / 2 - 1);
    prompt.push_back(tokens_.speech.previous);
    prompt.insert(prompt.end(), earlier.end() - static_cast<ptrdiff_t>(kept), earlier.end());
  }
  prompt.push_back(tokens_.start);
  MOTE_TAKE(const float* logits, append(prompt, hooks));
  WhisperText said{{}, "", temperature, 0, 0, 0};
  if (tokens_.speech.no_speech >= 0)
    said.no_speech =
        std::exp(static_cast<double>(logits[tokens_.speech.no_speech]) - log_sum_exp({logits, vocab_}));
  if (begin_.size() > 1) {
    MOTE_TAKE(logits, append({begin_.begin() + 1, begin_.end()}, hooks));
  }
  MOTE_TRY(say(logits, prompt.size() + begin_.size() - 1, said, hooks));
  MOTE_TAKE(said.text, text_of(said.ids));
  said.compression = compression_of(said.text);
  return said;
}

Result<WhisperText> WhisperDecoder::decode(const std::vector<int32_t>& earlier, const Hooks& hooks) {
  WhisperText said{};
  for (const double temperature : kTemperatures) {
    MOTE_TAKE(said, decode_at(earlier, temperature, hooks));
    const bool unlikely = said.average_logprob < kUnlikely;
    const bool silent = said.no_speech > kSilent && unlikely;
    if (silent || (said.compression <= kMostCompression && !unlikely)) break;
  }
  return said;
}

}  // namespace mote::host
