// SPDX-License-Identifier: Apache-2.0
//
// An utterance: a model's programs one after the other (schema/mote.fbs, Voice). The outputs that one program
// leaves in the session are gone when the next runs, so an utterance keeps them in memory of its own.
#include <math.h>
#include <string.h>

#include "mote/voice.h"
#include "runtime/error.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/session.h"
#include "runtime/exec/splitmix.h"
#include "runtime/file/voice.h"

namespace mote {

/// The programs of an utterance in their order; samples are computed piece by piece.
enum class SpeakStage : uint8_t { tokens, durations, frames, samples };

/// Frames of a piece, and those around it that its run computes too.
struct SpokenPiece {
  uint32_t frames, begin, end;
};

}  // namespace mote

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
  mote_speak_options options;
  mote::SpeakStage stage;
  bool computes;  // the stage's program has begun
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
  if (options->speaker >= session->model->root->token_types())
    return fail(error, MOTE_INVALID_ARGUMENT, "speaker ", options->speaker, "; this model has 0 to ",
                session->model->root->token_types() - 1);
  for (const float noise : {options->noise, options->duration_noise}) {
    if (!isfinite(noise) || noise < 0.0f)
      return fail(error, MOTE_INVALID_ARGUMENT, "noise is not a number of 0 or more");
  }
  return MOTE_OK;
}

/// Begins to run a program over `count` rows of floats. All of them have outputs.
mote_status begin_rows(mote_session* session, mote_utterance* utterance, uint32_t program,
                       const float* values, uint32_t count, mote_error* error) {
  const auto speaker = static_cast<int32_t>(utterance->options.speaker);
  for (uint32_t i = 0; i < count; ++i) utterance->rows[i] = {0, 0, speaker, 1};
  mote_rows call{};
  call.rows = utterance->rows;
  call.count = count;
  call.program = program;
  call.values = values;
  return mote_compute_begin(session, &call, error);
}

mote_status fail_ended(mote_error* error) {
  return fail(error, MOTE_WRONG_STATE, "another call has ended this utterance's computation");
}

/// Checks that the session has the outputs of the program that the utterance has begun, for `count` rows.
mote_status check_outputs(const mote_session* session, uint32_t program, uint32_t count, mote_error* error) {
  if (session->program != program) return fail_ended(error);
  if (session->logit_count == count) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "program ", program, " gives ", session->logit_count, " rows for ",
              count);
}

mote_status begin_tokens(mote_session* session, const int32_t* ids, uint32_t n, mote_error* error) {
  mote_batch batch{};
  batch.ids = ids;
  batch.lengths = &n;
  batch.count = 1;
  return mote_encode_begin(session, &batch, error);
}

/// Takes the features and distributions of the tokens.
void take_tokens(const mote_session* session, mote_utterance* utterance) {
  const VoiceWidths widths = voice_widths(*session->model);
  const mote_speak_options& options = utterance->options;
  const uint32_t n = utterance->tokens;
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
}

/// Takes the frames of each token, and their number.
mote_status take_durations(const mote_session* session, mote_utterance* utterance, mote_error* error) {
  const uint32_t n = utterance->tokens;
  const float scale = 1.0f / utterance->options.speed;
  utterance->frames = 0;
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

/// Draws the latents of all frames from the distributions of their tokens.
void draw_latents(uint32_t width, mote_utterance* utterance) {
  const mote_speak_options& options = utterance->options;
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

mote_status begin_frames(mote_session* session, mote_utterance* utterance, mote_error* error) {
  const mote_speak_options& options = utterance->options;
  if (utterance->frames == 0)
    return fail(error, MOTE_INVALID_ARGUMENT, "the model gives none of the tokens a frame");
  if (options.frame_noise != nullptr && options.noise_frames != utterance->frames)
    return fail(error, MOTE_INVALID_ARGUMENT, "noise of ", options.noise_frames, " frames for ",
                utterance->frames);
  draw_latents(voice_widths(*session->model).latents, utterance);
  return begin_rows(session, utterance, kFlowProgram, utterance->latents, utterance->frames, error);
}

void take_frames(const mote_session* session, mote_utterance* utterance) {
  const uint32_t width = voice_widths(*session->model).latents;
  for (uint32_t i = 0; i < utterance->frames; ++i)
    memcpy(utterance->latents + uint64_t{i} * width, mote_session_output(session, i), width * sizeof(float));
}

/// Frames of the first piece, so that it is there soon; pieces grow with what has been said.
constexpr uint32_t kFirstFrames = 16;

SpokenPiece next_piece(const mote_utterance& utterance) {
  const uint32_t reach = utterance.model->root->voice()->reach(), left = utterance.frames - utterance.spoken;
  const uint32_t grown = utterance.spoken < kFirstFrames ? kFirstFrames : utterance.spoken;
  const uint32_t fits = most_piece(*utterance.model), most = grown < fits ? grown : fits;
  const uint32_t frames = left < most ? left : most;
  const uint32_t behind = left - frames < reach ? left - frames : reach;
  return {frames, utterance.spoken < reach ? 0 : utterance.spoken - reach,
          utterance.spoken + frames + behind};
}

mote_status begin_piece(mote_session* session, mote_utterance* utterance, mote_error* error) {
  const SpokenPiece piece = next_piece(*utterance);
  const float* const latents =
      utterance->latents + uint64_t{piece.begin} * voice_widths(*session->model).latents;
  return begin_rows(session, utterance, kSampleProgram, latents, piece.end - piece.begin, error);
}

/// Begins the program of the utterance's stage, but for the first one, which has begun.
mote_status begin_stage(mote_session* session, mote_utterance* utterance, mote_error* error) {
  mote_status status = MOTE_OK;
  if (utterance->stage == SpeakStage::durations)
    status = begin_rows(session, utterance, kDurationProgram, utterance->features, utterance->tokens, error);
  if (utterance->stage == SpeakStage::frames) status = begin_frames(session, utterance, error);
  if (utterance->stage == SpeakStage::samples) status = begin_piece(session, utterance, error);
  utterance->computes = status == MOTE_OK;
  return status;
}

/// Takes what the program of the utterance's stage has computed, and goes to the next stage.
mote_status end_stage(mote_session* session, mote_utterance* utterance, mote_error* error) {
  utterance->computes = false;
  const SpeakStage stage = utterance->stage;
  const bool of_frames = stage == SpeakStage::frames;
  const uint32_t program = stage == SpeakStage::tokens ? 0 : of_frames ? kFlowProgram : kDurationProgram;
  const uint32_t rows = of_frames ? utterance->frames : utterance->tokens;
  mote_status status = check_outputs(session, program, rows, error);
  if (status != MOTE_OK) return status;
  if (stage == SpeakStage::tokens) take_tokens(session, utterance);
  if (stage == SpeakStage::durations) status = take_durations(session, utterance, error);
  if (of_frames) take_frames(session, utterance);
  if (status == MOTE_OK) utterance->stage = static_cast<SpeakStage>(static_cast<uint8_t>(stage) + 1);
  return status;
}

/// Takes the samples of a piece.
mote_status end_piece(mote_session* session, mote_utterance* utterance, float* samples, size_t* count,
                      mote_error* error) {
  utterance->computes = false;
  const SpokenPiece piece = next_piece(*utterance);
  const uint32_t hop = voice_widths(*session->model).hop;
  const mote_status status = check_outputs(session, kSampleProgram, piece.end - piece.begin, error);
  if (status != MOTE_OK) return status;
  for (uint32_t i = 0; i < piece.frames; ++i) {
    memcpy(samples + uint64_t{i} * hop, mote_session_output(session, utterance->spoken - piece.begin + i),
           hop * sizeof(float));
  }
  utterance->spoken += piece.frames;
  *count = static_cast<size_t>(piece.frames) * hop;
  return MOTE_OK;
}

bool all_said(const mote_utterance& utterance) {
  return utterance.stage == SpeakStage::samples && utterance.spoken == utterance.frames;
}

/// Does at most max_ops operations of the stage's program, which begins where it has not, and ends the stage
/// with its last one. *count becomes the samples of a piece that is done.
mote_status step_stage(mote_session* session, mote_utterance* utterance, uint32_t max_ops, float* samples,
                       size_t* count, mote_error* error) {
  if (!utterance->computes) {
    const mote_status status = begin_stage(session, utterance, error);
    if (status != MOTE_OK || max_ops != 0) return status;
  }
  if (!session->run.active) return fail_ended(error);
  if (!continue_run(session, max_ops)) return MOTE_OK;
  return utterance->stage == SpeakStage::samples ? end_piece(session, utterance, samples, count, error)
                                                 : end_stage(session, utterance, error);
}

mote_status check_room_for_piece(const mote_session* session, const mote_utterance* utterance,
                                 const float* samples, size_t capacity, const void* out, mote_error* error) {
  if (utterance == nullptr || samples == nullptr || out == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_speak_next: null pointer");
  const mote_model& model = *session->model;
  if (&model != utterance->model)
    return fail(error, MOTE_INVALID_ARGUMENT, "the utterance is another model's");
  const bool waits = utterance->stage != SpeakStage::samples;
  const uint64_t frames = waits ? most_piece(model) : next_piece(*utterance).frames;
  const uint64_t needed = frames * voice_widths(model).hop;
  if (capacity >= needed) return MOTE_OK;
  return fail(error, MOTE_TOO_SMALL, "room for ", uint64_t{capacity}, " samples, there are ", needed);
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
  options.speaker = info.speaker;
  return options;
}

size_t mote_speak_bytes(const mote_session* session) {
  if (session->model->root->voice() == nullptr) return 0;
  mote_utterance utterance;
  const uint64_t bytes = mote::lay_out_utterance(*session, nullptr, 0, &utterance);
  return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

mote_status mote_speak_start(mote_session* session, const int32_t* ids, uint32_t n,
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
  fresh.options = *options;
  fresh.computes = true;
  *made = fresh;
  status = mote::begin_tokens(session, ids, n, error);
  if (status == MOTE_OK) *utterance = made;
  return status;
}

mote_status mote_speak_begin(mote_session* session, const int32_t* ids, uint32_t n,
                             const mote_speak_options* options, void* memory, size_t memory_bytes,
                             mote_utterance** utterance, mote_error* error) {
  mote_utterance* made = nullptr;
  mote_status status = mote_speak_start(session, ids, n, options, memory, memory_bytes,
                                        utterance == nullptr ? nullptr : &made, error);
  while (status == MOTE_OK && made->stage != mote::SpeakStage::samples)
    status = mote::step_stage(session, made, 0, nullptr, nullptr, error);
  if (status == MOTE_OK) *utterance = made;
  return status;
}

uint32_t mote_utterance_frames(const mote_utterance* utterance) { return utterance->frames; }
const uint32_t* mote_utterance_durations(const mote_utterance* utterance) { return utterance->durations; }
const float* mote_utterance_latents(const mote_utterance* utterance) { return utterance->latents; }

mote_status mote_speak_step(mote_session* session, mote_utterance* utterance, uint32_t max_ops,
                            float* samples, size_t capacity, size_t* count, int* done, mote_error* error) {
  if (done == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_speak_step: null pointer");
  mote_status status = mote::check_room_for_piece(session, utterance, samples, capacity, count, error);
  if (status != MOTE_OK) return status;
  *count = 0;
  *done = 0;
  do {
    if (mote::all_said(*utterance)) break;
    status = mote::step_stage(session, utterance, max_ops, samples, count, error);
  } while (status == MOTE_OK && max_ops == 0 && *count == 0);
  *done = status == MOTE_OK && mote::all_said(*utterance) ? 1 : 0;
  return status;
}

mote_status mote_speak_next(mote_session* session, mote_utterance* utterance, float* samples, size_t capacity,
                            size_t* count, mote_error* error) {
  int done = 0;
  // Other calls may have computed since the last piece.
  if (utterance != nullptr && utterance->stage == mote::SpeakStage::samples) utterance->computes = false;
  return mote_speak_step(session, utterance, 0, samples, capacity, count, &done, error);
}

}  // extern "C"
