// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/whisper.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

#ifdef MOTE_HAS_SNDFILE
#include <zlib.h>
#endif

namespace mote::cli {
namespace {

constexpr uint64_t kSeed = 1;
constexpr double kTemperatures[] = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
constexpr double kMostCompression = 2.4, kLeastLogprob = -1.0, kSilence = 0.6;

mote_session_options whisper_options(mote_session_options options, const mote_sound_info& sound,
                                     const ModelFile& file) {
  options.batch = options.logit_rows = 1;
  options.context = file.info().context;
  options.chunk = std::max(sound.frames, options.context);
  return options;
}

mote_sound_info whisper_sound(const ModelFile& file) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.features != MOTE_FEATURES_LOG_MEL || sound.frames == 0)
    convert::fail("{} does not take Whisper's features", file.path());
  return sound;
}

WhisperTokens whisper_tokens(const ModelFile& file) {
  WhisperTokens tokens;
  mote_model_get_speech(file.model(), &tokens.speech);
  tokens.start = file.info().bos_id;
  if (tokens.start < 0 || file.info().stop_count == 0 || file.info().tokens == 0)
    convert::fail("{} has no tokenizer, or names no tokens that begin and end a text", file.path());
  tokens.stop = file.info().stop_ids[0];
  return tokens;
}

}  // namespace

double compression_ratio(const std::string& text) {
#ifdef MOTE_HAS_SNDFILE
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> room(size);
  compress2(room.data(), &size, reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()),
            Z_DEFAULT_COMPRESSION);
  return static_cast<double>(text.size()) / static_cast<double>(size);
#else
  return text.empty() ? 0.0 : 1.0;  // without libsndfile nothing is heard
#endif
}

WhisperDecoder::WhisperDecoder(const ModelFile& file, const mote_session_options& options)
    : file_(file),
      sound_(whisper_sound(file)),
      tokens_(whisper_tokens(file)),
      rules_(tokens_),
      session_(file, whisper_options(options, sound_, file)),
      context_(file.info().context),
      vocab_(file.info().vocab),
      begin_{tokens_.start},
      random_(kSeed) {}

void WhisperDecoder::hear(const std::vector<float>& features) {
  mote_error error = {};
  check(mote_session_truncate(session_.get(), 0, 0, &error), error, file_.path());
  const auto rows = static_cast<uint32_t>(features.size() / sound_.bins);
  encode_values(session_, features.data(), rows, file_.path());
}

const float* WhisperDecoder::append(const std::vector<int32_t>& ids) {
  mote_error error = {};
  check(mote_prefill(session_.get(), 0, ids.data(), static_cast<uint32_t>(ids.size()), MOTE_LOGITS_LAST,
                     &error),
        error, file_.path());
  return mote_session_logits(session_.get(), 0);
}

uint32_t WhisperDecoder::detect_language() {
  const float* logits = append({tokens_.start});
  uint32_t best = 0;
  float most = -INFINITY;
  for (uint32_t i = 0; i < tokens_.speech.languages; ++i) {
    int32_t id = 0;
    mote_model_language(file_.model(), i, &id);
    if (logits[id] > most) {
      most = logits[id];
      best = i;
    }
  }
  mote_error error = {};
  check(mote_session_truncate(session_.get(), 0, 0, &error), error, file_.path());
  return best;
}

void WhisperDecoder::set_language(int32_t id, bool translate, bool by_user) {
  int32_t task = translate ? tokens_.speech.translate : tokens_.speech.transcribe;
  if (task < 0 && by_user) {
    const std::vector<int32_t> ids = tokenize(file_, session_, "<|transcribe|>", MOTE_PARSE_SPECIAL);
    if (ids.size() == 1) task = ids.front();
  }
  begin_ = {tokens_.start, id, task};
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

std::string WhisperDecoder::text_of(const std::vector<int32_t>& ids) const {
  std::vector<int32_t> said(ids);
  std::erase_if(said, [&](int32_t id) { return id >= tokens_.stop; });
  return text_of_ids(file_, said, 0);
}

WhisperDecoder::Result WhisperDecoder::decode_at(const std::vector<int32_t>& earlier, double temperature) {
  mote_error error = {};
  check(mote_session_truncate(session_.get(), 0, 0, &error), error, file_.path());
  std::vector<int32_t> prompt;
  if (!earlier.empty() && tokens_.speech.previous >= 0) {
    const size_t kept = std::min<size_t>(earlier.size(), context_ / 2 - 1);
    prompt.push_back(tokens_.speech.previous);
    prompt.insert(prompt.end(), earlier.end() - static_cast<ptrdiff_t>(kept), earlier.end());
  }
  prompt.push_back(tokens_.start);
  const float* logits = append(prompt);
  Result result{{}, "", temperature, 0, 0, 0};
  if (tokens_.speech.no_speech >= 0)
    result.no_speech =
        std::exp(static_cast<double>(logits[tokens_.speech.no_speech]) - log_sum_exp({logits, vocab_}));
  if (begin_.size() > 1) logits = append({begin_.begin() + 1, begin_.end()});
  size_t length = prompt.size() + begin_.size() - 1;
  double sum = 0;
  std::vector<float> allowed(vocab_);
  for (uint32_t step = 0; step < context_ / 2; ++step) {
    std::copy_n(logits, vocab_, allowed.begin());
    rules_.apply(result.ids, allowed);
    const int32_t id = choose(allowed, temperature);
    sum += static_cast<double>(allowed[static_cast<size_t>(id)]) - log_sum_exp(allowed);
    if (id == tokens_.stop) break;
    result.ids.push_back(id);
    if (++length > context_) break;
    logits = append({id});
  }
  result.average_logprob = sum / static_cast<double>(result.ids.size() + 1);
  result.text = text_of(result.ids);
  const size_t first = result.text.find_first_not_of(" \n\t"), last = result.text.find_last_not_of(" \n\t");
  result.compression =
      compression_ratio(first == std::string::npos ? "" : result.text.substr(first, last - first + 1));
  return result;
}

WhisperDecoder::Result WhisperDecoder::decode(const std::vector<int32_t>& earlier) {
  Result result{};
  for (const double temperature : kTemperatures) {
    result = decode_at(earlier, temperature);
    const bool unlikely = result.average_logprob < kLeastLogprob;
    const bool silent = result.no_speech > kSilence && unlikely;
    if (silent || (result.compression <= kMostCompression && !unlikely)) break;
  }
  return result;
}

}  // namespace mote::cli
