// SPDX-License-Identifier: Apache-2.0
//
// An utterance: a model's programs one after the other (schema/mote.fbs, Voice). The outputs that one program
// leaves in the session are gone when the next runs, so an utterance keeps them in memory of its own.
#include <math.h>
#include <string.h>

#include "mote/voice.h"
#include "runtime/error.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/session.h"
#include "runtime/exec/splitmix.h"
#include "runtime/file/voice.h"

struct mote_utterance {
  const mote_model* model;
  uint32_t tokens, frames;
  uint32_t spoken;       // frames
  uint32_t most_tokens;  // that there is room for
  uint32_t most_frames;
  float* features;       // [tokens, features + 2], the noise last
  float* means;          // [tokens, latents]
  float* log_variances;  // [tokens, latents]
  uint32_t* durations;   // [tokens]
  float* latents;        // [frames, latents]
  mote_row* rows;        // of a run
};

namespace mote {
namespace {

/// Parts of an utterance, in the order of their places; null without memory.
uint64_t lay_out_utterance(const mote_session& session, void* memory, uint64_t bytes,
                           mote_utterance* utterance) {
  const mote_model& model = *session.model;
  const VoiceWidths widths = voice_widths(model);
  const auto longest = [&](uint32_t program) {
    return most_rows_of_sequence(session, *model.root->programs()->Get(program));
  };
  Arena arena = memory == nullptr ? Arena(Arena::Gaps::none) : Arena(memory, bytes, Arena::Gaps::none);
  const uint64_t tokens = longest(0), frames = longest(kFlowProgram);
  arena.take<mote_utterance>(1);
  utterance->most_tokens = static_cast<uint32_t>(tokens);
  utterance->most_frames = static_cast<uint32_t>(frames);
  utterance->features = arena.take<float>(saturating_multiply(tokens, widths.features + kDurationNoise));
  utterance->means = arena.take<float>(saturating_multiply(tokens, widths.latents));
  utterance->log_variances = arena.take<float>(saturating_multiply(tokens, widths.latents));
  utterance->durations = arena.take<uint32_t>(tokens);
  utterance->latents = arena.take<float>(saturating_multiply(frames, widths.latents));
  utterance->rows = arena.take<mote_row>(tokens > frames ? tokens : frames);
  return arena.used();
}

/// Number `index` of the seed's standard normal numbers (Box and Muller 1958); the same whatever others are
/// asked for.
float normal(uint64_t seed, uint64_t index) {
  const uint64_t first = splitmix_next(&seed);
  const uint64_t bits = splitmix_mix(first + (index + 1) * kSplitMixStep);
  const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;
  const float angle = static_cast<float>(bits & 0xFFFFFF) * (6.28318531f * 0x1p-24f);
  return sqrtf(-2.0f * logf(u)) * cosf(angle);
}

/// Numbers of tokens, and of frames, are told apart.
constexpr uint64_t kFrameNumbers = uint64_t{1} << 40;

mote_status check_utterance(const mote_session* session, const int32_t* ids, uint32_t n,
                            const mote_speak_options* options, mote_error* error) {
  if (ids == nullptr || options == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speak_begin: null pointer");
  if (session->model->root->voice() == nullptr)
    return fail(error, MOTE_WRONG_STATE, "this model does not speak");
  if (n == 0) return fail(error, MOTE_INVALID_ARGUMENT, "there is nothing to say");
  if (!isfinite(options->speed) || !(options->speed >= 1e-3f))
    return fail(error, MOTE_INVALID_ARGUMENT, "the speed is not a number of a thousandth or more");
  for (const float noise : {options->noise, options->duration_noise}) {
    if (!isfinite(noise) || noise < 0.0f)
      return fail(error, MOTE_INVALID_ARGUMENT, "noise is not a number of 0 or more");
  }
  return MOTE_OK;
}

/// Runs a program over `count` rows of floats. All of them have outputs.
mote_status compute(mote_session* session, mote_utterance* utterance, uint32_t program, const float* values,
                    uint32_t count, mote_error* error) {
  for (uint32_t i = 0; i < count; ++i) utterance->rows[i] = {0, 0, 0, 1};
  mote_rows call{};
  call.rows = utterance->rows;
  call.count = count;
  call.program = program;
  call.values = values;
  const mote_status status = mote_compute(session, &call, error);
  if (status != MOTE_OK || session->logit_count == count) return status;
  return fail(error, MOTE_CORRUPT_FILE, "program ", program, " gives ", session->logit_count, " rows for ",
              count);
}

mote_status encode_tokens(mote_session* session, const int32_t* ids, const mote_speak_options& options,
                          mote_utterance* utterance, mote_error* error) {
  const VoiceWidths widths = voice_widths(*session->model);
  const uint32_t n = utterance->tokens;
  mote_batch batch{};
  batch.ids = ids;
  batch.lengths = &n;
  batch.count = 1;
  const mote_status status = mote_encode(session, &batch, error);
  if (status != MOTE_OK) return status;
  for (uint32_t i = 0; i < n; ++i) {
    const float* const from = mote_session_output(session, i);
    const uint64_t row = i;
    float* const features = utterance->features + row * (widths.features + kDurationNoise);
    memcpy(features, from, widths.features * sizeof(float));
    for (uint32_t k = 0; k < kDurationNoise; ++k) {
      const float noise = options.token_noise != nullptr ? options.token_noise[uint64_t{k} * n + i]
                                                         : normal(options.seed, kDurationNoise * row + k);
      features[widths.features + k] = noise * options.duration_noise;
    }
    const size_t bytes = widths.latents * sizeof(float);
    memcpy(utterance->means + row * widths.latents, from + widths.features, bytes);
    memcpy(utterance->log_variances + row * widths.latents, from + widths.features + widths.latents, bytes);
  }
  return MOTE_OK;
}

/// The frames of each token, and their number.
mote_status choose_durations(mote_session* session, float speed, mote_utterance* utterance,
                             mote_error* error) {
  const uint32_t n = utterance->tokens;
  const mote_status status = compute(session, utterance, kDurationProgram, utterance->features, n, error);
  if (status != MOTE_OK) return status;
  const float scale = 1.0f / speed;
  for (uint32_t i = 0; i < n; ++i) {
    const float frames = ceilf(expf(mote_session_output(session, i)[0]) * scale);
    const uint32_t left = utterance->most_frames - utterance->frames;
    if (!(frames <= static_cast<float>(left)))
      return fail(error, MOTE_CONTEXT_FULL, "the ", n, " tokens take more than ", utterance->most_frames,
                  " frames, all that the session's chunk has room for");
    utterance->durations[i] = static_cast<uint32_t>(frames);
    utterance->frames += utterance->durations[i];
  }
  return MOTE_OK;
}

/// Latents of all frames, drawn from the distributions of their tokens.
void draw_latents(const mote_speak_options& options, uint32_t width, mote_utterance* utterance) {
  uint64_t frame = 0;
  for (uint32_t i = 0; i < utterance->tokens; ++i) {
    for (uint32_t left = utterance->durations[i]; left > 0; --left, ++frame) {
      for (uint64_t c = 0; c < width; ++c) {
        const uint64_t own = uint64_t{i} * width + c;
        const float noise = options.frame_noise != nullptr
                                ? options.frame_noise[c * utterance->frames + frame]
                                : normal(options.seed, kFrameNumbers + frame * width + c);
        utterance->latents[frame * width + c] =
            utterance->means[own] + noise * expf(utterance->log_variances[own]) * options.noise;
      }
    }
  }
}

mote_status flow(mote_session* session, const mote_speak_options& options, mote_utterance* utterance,
                 mote_error* error) {
  const uint32_t width = voice_widths(*session->model).latents;
  if (utterance->frames == 0)
    return fail(error, MOTE_INVALID_ARGUMENT, "the model gives none of the tokens a frame");
  if (options.frame_noise != nullptr && options.noise_frames != utterance->frames)
    return fail(error, MOTE_INVALID_ARGUMENT, "noise of ", options.noise_frames, " frames for ",
                utterance->frames);
  draw_latents(options, width, utterance);
  const mote_status status =
      compute(session, utterance, kFlowProgram, utterance->latents, utterance->frames, error);
  for (uint32_t i = 0; status == MOTE_OK && i < utterance->frames; ++i)
    memcpy(utterance->latents + uint64_t{i} * width, mote_session_output(session, i), width * sizeof(float));
  return status;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_speak_options mote_speak_options_default(const mote_model* model) {
  mote_speak_options options{};
  mote_voice_info info;
  mote_model_get_voice(model, &info);
  options.speed = info.speed;
  options.noise = info.noise;
  options.duration_noise = info.duration_noise;
  return options;
}

size_t mote_speak_bytes(const mote_session* session) {
  if (session->model->root->voice() == nullptr) return 0;
  mote_utterance utterance;
  const uint64_t bytes = mote::lay_out_utterance(*session, nullptr, 0, &utterance);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

mote_status mote_speak_begin(mote_session* session, const int32_t* ids, uint32_t n,
                             const mote_speak_options* options, void* memory, size_t memory_bytes,
                             mote_utterance** utterance, mote_error* error) {
  mote_status status = mote::check_utterance(session, ids, n, options, error);
  if (status != MOTE_OK) return status;
  if (memory == nullptr || utterance == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speak_begin: null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignof(mote_utterance) != 0)
    return fail(error, MOTE_NOT_ALIGNED, "an utterance's memory must be 8-byte aligned");
  const size_t bytes = mote_speak_bytes(session);
  if (memory_bytes < bytes || bytes == 0)
    return fail(error, MOTE_TOO_SMALL, "an utterance takes ", uint64_t{bytes}, " bytes, the memory has ",
                uint64_t{memory_bytes});
  auto* made = static_cast<mote_utterance*>(memory);
  mote_utterance fresh{};
  mote::lay_out_utterance(*session, memory, bytes, &fresh);
  if (n > fresh.most_tokens)
    return fail(error, MOTE_CONTEXT_FULL, n, " tokens; this session reads at most ", fresh.most_tokens);
  fresh.model = session->model;
  fresh.tokens = n;
  *made = fresh;
  status = mote::encode_tokens(session, ids, *options, made, error);
  if (status == MOTE_OK) status = mote::choose_durations(session, options->speed, made, error);
  if (status == MOTE_OK) status = mote::flow(session, *options, made, error);
  if (status == MOTE_OK) *utterance = made;
  return status;
}

uint32_t mote_utterance_frames(const mote_utterance* utterance) { return utterance->frames; }
const uint32_t* mote_utterance_durations(const mote_utterance* utterance) { return utterance->durations; }
const float* mote_utterance_latents(const mote_utterance* utterance) { return utterance->latents; }

mote_status mote_speak_next(mote_session* session, mote_utterance* utterance, float* samples, size_t capacity,
                            size_t* count, mote_error* error) {
  if (utterance == nullptr || samples == nullptr || count == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speak_next: null pointer");
  const mote_model& model = *session->model;
  if (&model != utterance->model)
    return fail(error, MOTE_INVALID_ARGUMENT, "the utterance is another model's");
  const mote::VoiceWidths widths = mote::voice_widths(model);
  const uint32_t reach = model.root->voice()->reach(), left = utterance->frames - utterance->spoken;
  const uint32_t frames = left < mote::most_piece(model) ? left : mote::most_piece(model);
  if (capacity < uint64_t{frames} * widths.hop)
    return fail(error, MOTE_TOO_SMALL, "room for ", uint64_t{capacity}, " samples, there are ",
                uint64_t{frames} * widths.hop);
  *count = 0;
  if (frames == 0) return MOTE_OK;
  const uint32_t begin = utterance->spoken < reach ? 0 : utterance->spoken - reach;
  const uint32_t behind = left - frames < reach ? left - frames : reach;
  const uint32_t end = utterance->spoken + frames + behind;
  const mote_status status =
      mote::compute(session, utterance, mote::kSampleProgram,
                    utterance->latents + uint64_t{begin} * widths.latents, end - begin, error);
  if (status != MOTE_OK) return status;
  for (uint32_t i = 0; i < frames; ++i) {
    memcpy(samples + uint64_t{i} * widths.hop, mote_session_output(session, utterance->spoken - begin + i),
           widths.hop * sizeof(float));
  }
  utterance->spoken += frames;
  *count = static_cast<size_t>(frames) * widths.hop;
  return MOTE_OK;
}

}  // extern "C"
