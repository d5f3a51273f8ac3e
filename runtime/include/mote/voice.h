/* SPDX-License-Identifier: Apache-2.0 */
/* Text to speech: tokens in, samples out. Nothing allocates. Error handling is left out here.
 *
 *   mote_speak_options options = mote_speak_options_default(model);
 *   size_t memory_bytes = mote_speak_bytes(session);
 *   void* memory = malloc(memory_bytes);
 *   mote_utterance* utterance;
 *   mote_speak_begin(session, ids, n, &options, memory, memory_bytes, &utterance, &error);
 *   size_t count;
 *   do mote_speak_next(session, utterance, samples, capacity, &count, &error);
 *   while (count > 0);
 */
#ifndef MOTE_VOICE_H_
#define MOTE_VOICE_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The output of a model that speaks. */
typedef struct mote_voice_info {
  uint32_t rate;        /* samples of a second; 0: the model does not speak */
  uint32_t hop;         /* samples of a frame */
  uint32_t latents;     /* floats of a frame before it becomes samples */
  uint32_t piece;       /* frames that one call of mote_speak_next gives at most */
  float speed;          /* by default; 2 is twice as fast */
  float noise;          /* by default: how much one utterance of a text differs from another */
  float duration_noise; /* the same of the tokens' durations */
  uint32_t speakers;    /* 1 or more */
  uint32_t speaker;     /* by default */
  uint32_t unused;
  uint64_t reserved[3];
} mote_voice_info;

void mote_model_get_voice(const mote_model* model, mote_voice_info* info);

/* The name of a speaker, from 0 on; null where the file names none. It lives as long as the model. */
const char* mote_model_speaker(const mote_model* model, uint32_t speaker);

/* The voice of espeak-ng ("en-us") whose phonemes the tokenizer reads in place of texts; null: it reads
   texts. */
const char* mote_model_phonemes(const mote_model* model);

typedef struct mote_speak_options {
  float speed;                 /* above 0 */
  float noise, duration_noise; /* 0 or more; both 0: every seed says the same */
  uint32_t noise_frames;       /* of frame_noise */
  uint64_t seed;
  const float* token_noise; /* [2, n] standard normal numbers in place of the seed's, or null */
  const float* frame_noise; /* [latents, noise_frames] likewise; as many as there are frames */
  uint32_t speaker;         /* from 0 on */
  uint32_t unused;          /* 0 */
  uint64_t reserved[3];     /* 0 */
} mote_speak_options;

/* The model's speed, noises and speaker, seed 0. */
mote_speak_options mote_speak_options_default(const mote_model* model);

/* Bytes that an utterance takes, of as many tokens and frames as the session's context and chunk allow; 0:
   the model does not speak. */
size_t mote_speak_bytes(const mote_session* session);

/* In the caller's memory. */
typedef struct mote_utterance mote_utterance;

/* Computes when each of the n tokens is said and all frames; `memory` is 8-byte aligned. The chunk must have
   room for the frames, logit_rows for as many rows: MOTE_CONTEXT_FULL else. MOTE_WRONG_STATE: the model does
   not speak. */
mote_status mote_speak_begin(mote_session* session, const int32_t* ids, uint32_t n,
                             const mote_speak_options* options, void* memory, size_t memory_bytes,
                             mote_utterance** utterance, mote_error* error);

/* Frames of the utterance; those of each token, [n]; their latents, [frames, latents]. */
uint32_t mote_utterance_frames(const mote_utterance* utterance);
const uint32_t* mote_utterance_durations(const mote_utterance* utterance);
const float* mote_utterance_latents(const mote_utterance* utterance);

/* The next samples, from -1 to 1: of `piece` frames, or as many as are left. `samples` has room for
   `capacity` of them, those of a piece or more (MOTE_TOO_SMALL). *count is 0 at the end. The samples are the
   same whatever else the session computes between calls. */
mote_status mote_speak_next(mote_session* session, mote_utterance* utterance, float* samples, size_t capacity,
                            size_t* count, mote_error* error);

/* Say as the two calls above do, in bounded parts: start computes nothing and copies the ids, not the noise;
   a step does at most max_ops operations of the model's programs (0: up to the next samples). *count is how
   many samples it has made, mostly none; *done is set when all are said. Frames, durations and latents are
   there from the first samples on. `samples` has room for a piece. Another call that computes between two
   steps ends the computation: the next step is MOTE_WRONG_STATE. */
mote_status mote_speak_start(mote_session* session, const int32_t* ids, uint32_t n,
                             const mote_speak_options* options, void* memory, size_t memory_bytes,
                             mote_utterance** utterance, mote_error* error);
mote_status mote_speak_step(mote_session* session, mote_utterance* utterance, uint32_t max_ops,
                            float* samples, size_t capacity, size_t* count, int* done, mote_error* error);

#ifdef __cplusplus
}
#endif

#endif
