/* SPDX-License-Identifier: Apache-2.0 */
/* mote: runs a .mote model without a heap. Error handling is left out here; examples/ has whole programs.
 *
 *   static uint64_t storage[MOTE_MODEL_BYTES / 8];
 *   mote_model* model;
 *   mote_session* session;
 *   mote_model_open(file, bytes, 0, storage, sizeof storage, &model, &error);
 *   mote_session_options options = mote_session_options_default(model);
 *   size_t arena_bytes = mote_session_bytes(model, &options);
 *   void* arena = NULL;
 *   posix_memalign(&arena, MOTE_ALIGNMENT, arena_bytes);
 *   mote_session_init(model, &options, arena, arena_bytes, &session, &error);
 *   mote_generation generation = mote_generation_default();
 *   mote_generate(session, ids, n, &generation, on_token, user, NULL, &error);
 *
 * Ownership: the caller owns the file's bytes, the storage and the arena; they must outlive, unmoved, the
 * objects made in them. Nothing is ever freed because nothing is allocated: an object ends when its memory is
 * reused. Threads: a model may be shared by any number of sessions; a session is for one thread at a time.
 * Errors: every call that can fail returns a mote_status and fills `error` unless it is null. After a failed
 * call the session is as it was before, unless the call says otherwise.
 * Structs: what is called reserved or unused is 0 and makes room for later versions; take options from the
 * functions that give their defaults, and clear the others.
 * Headers: this one has models, sessions, rows and encoders and includes mote/text.h, mote/generation.h and
 * mote/self_test.h.
 * mote/task.h, mote/sampler.h, mote/attention.h, mote/beams.h, mote/pictures.h, mote/sound.h and mote/voice.h
 * are included by those who need them. mote.hpp is for C++ programs on POSIX systems, bare.hpp for C++
 * without a heap.
 */
#ifndef MOTE_MOTE_H_
#define MOTE_MOTE_H_

#include <stddef.h>
#include <stdint.h>

#include "mote/backend.h"
#include "mote/platform.h"
#include "mote/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_VERSION "0.1.0"
#define MOTE_ALIGNMENT 64 /* of the file's bytes and of arenas */

/* The linked library's MOTE_VERSION. */
const char* mote_version(void);

/* ---- Model ---- */

typedef struct mote_model mote_model;

enum { MOTE_OPEN_CHECK_HASHES = 1 /* also hash every tensor: reads the whole file */ };

/* Bytes of storage for mote_model_open, 8-byte aligned: the size of a static array, the same in all versions
   of a major version. */
#define MOTE_MODEL_BYTES (384 * sizeof(void*))

/* The linked library's MOTE_MODEL_BYTES, for languages that cannot read this header. */
size_t mote_model_bytes(void);

/* Verifies the file in full but for its weights' values and makes a view of it; nothing is copied. `data` is
   64-byte aligned (MOTE_NOT_ALIGNED); `storage` has at least MOTE_MODEL_BYTES bytes (MOTE_TOO_SMALL). A model
   that the storage holds stays where the file is refused, but on platforms with a small stack (Cortex-M,
   RISC-V), which verify in place. */
mote_status mote_model_open(const void* data, size_t bytes, uint32_t flags, void* storage,
                            size_t storage_bytes, mote_model** model, mote_error* error);

typedef enum mote_kv_dtype {
  MOTE_KV_AUTO =
      0, /* f32 where the weights are f32, and for a decoder's q8c below a head of f32 or f16. Of encoders
            of quantized weights the first of i8 and bf16 that the kernel family has kernels of its own for
            (i8: all of x86-64 but REF, and Arm's), unless queries are relative. Else f16 */
  MOTE_KV_F16 = 1,
  MOTE_KV_F32 = 2,
  MOTE_KV_BF16 = 3, /* for heads of an even width */
  MOTE_KV_I8 = 4    /* 8 bits and a scale for each key and value of a head, half the memory of f16; for heads
                       whose width is a multiple of 4 */
} mote_kv_dtype;

typedef struct mote_model_info {
  const char* name; /* zero-terminated, in the file */
  const char* architecture;
  uint32_t vocab;   /* ids are 0..vocab-1 */
  uint32_t width;   /* of a hidden row */
  uint32_t context; /* positions the model was made for */
  uint32_t layers;  /* that attend */
  int32_t bos_id;   /* -1: none */
  const int32_t* stop_ids;
  uint32_t stop_count;
  uint64_t hash; /* names the model in snapshots */
  uint64_t weight_bytes;
  uint32_t tokens; /* ids that stand for text, 0 if the file has no tokenizer */
  uint32_t unused;
  uint64_t reserved[6];
} mote_model_info;

void mote_model_get_info(const mote_model* model, mote_model_info* info);

/* ---- Session ---- */

typedef struct mote_session mote_session;

/* Called after the operation that computes a named intermediate result ("hidden.0" and so on): `rows` rows of
   `width` floats, `stride` floats apart, for the running chunk's tokens or, after the last layer, its tokens
   with logits; of "pooler_output" for the sequences. */
typedef void (*mote_trace)(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                           size_t stride);

typedef struct mote_session_options {
  uint32_t context;    /* positions per sequence, 1 to the model's */
  uint32_t chunk;      /* most tokens computed at once, at least `batch`; 64 by default */
  uint32_t batch;      /* sequences, 1 by default */
  uint32_t logit_rows; /* most rows of logits or of tokens' outputs of one call, at least `batch` */
  uint32_t threads;    /* at most the platform's; 0: the platform's */
  mote_kv_dtype kv_dtype;
  mote_isa isa;           /* MOTE_ISA_AUTO: the platform's */
  mote_platform platform; /* copied; `user` must outlive the session */
  mote_trace trace;       /* or null */
  void* trace_user;
  uint32_t text_bytes; /* longest normalized word that mote_tokenize takes, 26 bytes of arena each; 0: none */
  uint32_t kv_positions; /* of all sequences together, rounded up to pages of 128; 0: batch times context.
                            Sequences that share a prefix hold it once. When they are full, calls return
                            MOTE_CONTEXT_FULL and a generation ends with MOTE_FINISH_CONTEXT. */
  const mote_backend* backend; /* of this model (mote/backend.h), must outlive the session; null: none */
  uint32_t decode_threads;     /* of calls that give no sequence more than one token; at most `threads`, 0: as
                                  many. Where memory bounds decoding, fewer may be faster */
  uint32_t unused;             /* 0 */
  uint64_t reserved[5];        /* 0 */
} mote_session_options;

/* The model's context, but of a model with attention at most 4096, or, of an encoder of pictures, the rows of
   its own size where these are more; chunk 64, one sequence, words of 64 KiB if the model has a tokenizer,
   mote_platform_default(). An encoder reads a sequence whole: its chunk is the context, and there is room for
   the outputs of all tokens, or of 16 where each output is a row of logits over the vocabulary. Where tokens
   have sources the chunk has room for the longest. */
mote_session_options mote_session_options_default(const mote_model* model);

/* Exact bytes of the arena, 0 if the options are invalid (mote_session_init says why). */
size_t mote_session_bytes(const mote_model* model, const mote_session_options* options);

/* Bytes of the arena by what they are for; they add up to mote_session_bytes. */
typedef struct mote_memory {
  uint64_t session, activations, scratch, kv_cache, sampler, text;
  uint64_t states; /* of convolutions and recurrent layers, the same for any context */
  uint64_t reserved[5];
} mote_memory;
mote_status mote_session_memory(const mote_model* model, const mote_session_options* options,
                                mote_memory* memory, mote_error* error);

/* `arena` is 64-byte aligned. Its content need not be cleared. Fails with MOTE_CORRUPT_FILE where an
   operation of the model reads what none before it has written. */
mote_status mote_session_init(const mote_model* model, const mote_session_options* options, void* arena,
                              size_t arena_bytes, mote_session** session, mote_error* error);

/* The kernel family in use. */
mote_isa mote_session_isa(const mote_session* session);

/* ---- Rows in, outputs out ---- */

/* A program of a model: operations that a row goes through. The first, which all calls below run but
   mote_compute, takes ids. Others work on the same sequences, for example on rows of floats that another
   model made of a picture. Where the first appends tokens and another takes whole sequences, that one
   encodes: what it makes of a sequence, its source, is kept until it computes the sequence again, and tokens
   attend to it. mote_encode runs the first that does. Save, restore, fork and reorder take sources along;
   truncation leaves them. */
typedef struct mote_program_info {
  const char* name;     /* zero-terminated, in the file */
  uint32_t input_width; /* floats that a row is; 0: it is an id */
  uint32_t output_width;
  uint32_t whole;   /* 1: its rows are whole sequences; 0: they are appended */
  uint32_t context; /* the most rows of a sequence; of whole sequences also at most the session's chunk */
  uint32_t ids;     /* 1: a row is an id, with input_width not 0 besides, and no values are zeros */
  uint32_t unused;
  uint64_t reserved[2];
} mote_program_info;

uint32_t mote_model_programs(const mote_model* model);
/* Clears `info` for a program that there is not. */
void mote_model_get_program(const mote_model* model, uint32_t program, mote_program_info* info);

/* The next token of a sequence. */
typedef struct mote_row {
  uint32_t sequence;
  int32_t id;            /* 0 where the program takes floats alone */
  int32_t token_type;    /* of encoders; 0 for decoders */
  uint32_t wants_output; /* 1: it has a row of outputs; 0: not. All equal where outputs are of sequences or
                            groups */
} mote_row;

/* Rows of a call; clear it first. */
typedef struct mote_rows {
  const mote_row* rows; /* [count] */
  uint32_t count;
  uint32_t program;    /* its number, 0 for the first */
  const float* values; /* [count, input_width], of a program that takes floats; must stay valid until the rows
                          are computed */
  size_t value_stride; /* floats from row to row; 0: input_width */
  uint64_t reserved[4];
} mote_rows;

/* Computes 1 to `chunk` rows, of any sequences in any order; the rows of one sequence follow its tokens in
   the order given. mote_session_output then has a row for each that wants one, at most logit_rows, in order.
   An encoder's rows are whole sequences 0, 1, ..., one after the other; where its outputs are of sequences,
   there is a row for each; where they are of groups of rows, as a model of sound has them, one for each
   group. Sources (mote_program_info) are whole sequences too, of any numbers, each once. All calls below that
   compute are made of this one: a server that serves many sequences mixes prompts and single tokens in one
   call. MOTE_CONTEXT_FULL: a sequence exceeds the context, or all together kv_positions. MOTE_WRONG_STATE: a
   sequence has no source yet, or has tokens when it is given another. */
mote_status mote_compute(mote_session* session, const mote_rows* rows, mote_error* error);

/* Compute as mote_compute does, in bounded parts: begin computes nothing and copies the rows; a step does at
   most max_ops operations (0: all) and sets *done when the outputs are there. A call that begins another
   computation drops this one. */
mote_status mote_compute_begin(mote_session* session, const mote_rows* rows, mote_error* error);
mote_status mote_compute_step(mote_session* session, uint32_t max_ops, int* done, mote_error* error);

/* ---- Tokens in, logits out ---- */

typedef enum mote_logits { MOTE_LOGITS_LAST = 0, MOTE_LOGITS_ALL = 1, MOTE_LOGITS_NONE = 2 } mote_logits;

/* Appends n >= 1 tokens to a sequence, in chunks. MOTE_LOGITS_ALL takes at most logit_rows tokens, and at
 * most chunk. */
mote_status mote_prefill(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                         mote_logits logits, mote_error* error);

/* Appends ids[i] to sequence i for each i in 0..batch-1; id -1 leaves that sequence alone. Logits row i is
   then sequence i's. */
mote_status mote_decode(mote_session* session, const int32_t* ids, mote_error* error);

/* Row `row` of the logits of the last prefill or decode, [vocab], valid until the next call on the session;
   null if there is none: while a run is in progress, and once a generation has sampled from it. */
const float* mote_session_logits(const mote_session* session, uint32_t row);

/* Returns row `row` of any output, of mote_encode too, as mote_session_logits does of logits: [width] of
   mote_output_info. */
const float* mote_session_output(const mote_session* session, uint32_t row);

/* Tokens of a sequence. */
uint32_t mote_session_length(const mote_session* session, uint32_t sequence);

/* Returns the ids of a sequence's tokens, [mote_session_length], -1 for those that were given as floats; null
   for a sequence that there is not. Valid until the next call on the session. */
const int32_t* mote_session_ids(const mote_session* session, uint32_t sequence);

/* Drops the tokens of a sequence from `length` on. With a sliding window at least the last 128 tokens can be
   dropped, or all; what needs tokens that the window has left behind is MOTE_INVALID_ARGUMENT.
   The state of a convolution or of a recurrent layer keeps no earlier one: with it, all can be dropped, or
   none. */
mote_status mote_session_truncate(mote_session* session, uint32_t sequence, uint32_t length,
                                  mote_error* error);

/* The shortest length, 0 aside, that mote_session_truncate can give the sequence now: tokens from there on
   may be a guess that is taken back. */
uint32_t mote_session_shortest(const mote_session* session, uint32_t sequence);

/* Tokens that a segment of a sequence sees of those before it (Transformer-XL), 0: the model has no segments.
 */
uint32_t mote_model_memory(const mote_model* model);

/* The tokens that follow are a further segment: they see each other and the last of those before, as many as
   the memory has. A run in progress ends. Snapshots are of sequences in their first segment.
   mote_session_truncate reaches back to the segment's beginning, or to 0, where a first segment begins. */
mote_status mote_session_begin_segment(mote_session* session, uint32_t sequence, mote_error* error);

/* Sequence `to` becomes a copy of `from`. Both hold the same pages; the first to append to a page that is not
   full copies it. The states of convolutions and recurrent layers are copied at once. A run in progress ends
   and logits are dropped. */
mote_status mote_session_fork(mote_session* session, uint32_t from, uint32_t to, mote_error* error);

/* Copies all sequences at once, as mote_session_fork copies one: sequence i becomes a copy of what from[i],
   [batch], was. A step of beam search. */
mote_status mote_session_reorder(mote_session* session, const uint32_t* from, mote_error* error);

/* Positions in pages that no sequence holds, of the model's fullest caches; UINT32_MAX where it has none. */
uint32_t mote_session_free_positions(const mote_session* session);

/* ---- Whole sequences in, outputs out: encoders ---- */

typedef enum mote_output_kind {
  MOTE_OUTPUT_NEXT_TOKEN = 0,      /* a decoder's logits; the others are of encoders */
  MOTE_OUTPUT_MASKED_TOKEN = 1,    /* logits of a token itself, over the vocabulary */
  MOTE_OUTPUT_TOKEN_LABELS = 2,    /* logits of a token's labels */
  MOTE_OUTPUT_SEQUENCE_LABELS = 3, /* logits of a sequence's labels */
  MOTE_OUTPUT_ANSWER_SPAN = 4,     /* logits of a token being the first and the last of the answer */
  MOTE_OUTPUT_EMBEDDING = 5,       /* a vector for a sequence */
  MOTE_OUTPUT_HIDDEN = 6,          /* a token's last hidden state */
  MOTE_OUTPUT_BOXES = 7, /* of a row: logits of the labels and of none, then the box's middle (column, row),
                            width and height as shares of the picture */
  MOTE_OUTPUT_DEPTH = 8  /* of a patch of a picture: each pixel's depth, [patch, patch], larger is nearer
                            unless the  model says metres */
} mote_output_kind;

typedef enum mote_probability_kind {
  MOTE_PROBABILITY_SOFTMAX = 0,
  MOTE_PROBABILITY_SIGMOID = 1,
  MOTE_PROBABILITY_NONE = 2 /* the outputs are numbers of their own */
} mote_probability_kind;

typedef struct mote_output_info {
  mote_output_kind kind;
  uint32_t width;   /* of a row */
  int of_sequences; /* 1: a row for each sequence; 0: for each token asked for */
  mote_probability_kind probabilities;
  uint32_t token_types; /* types are 0..token_types-1 */
  uint32_t labels;      /* of the columns; 0: they have none */
  uint32_t
      global_type; /* types from it on are of global tokens, which all see and which see all; 0: no such */
  uint32_t memory; /* tokens of a sequence's earlier runs that a run can go on from; 0: none */
  uint64_t reserved[3];
} mote_output_info;

void mote_model_get_output(const mote_model* model, mote_output_info* info);

/* Zero-terminated, in the file; null for one that there is not. */
const char* mote_model_label(const mote_model* model, uint32_t label);

/* Returns the text that the model's authors put before a text, and its name ("query") if `name` is not null.
   Both are zero-terminated and in the file; null stands for one that the file does not have. */
const char* mote_model_prompt(const mote_model* model, uint32_t prompt, const char** name);
/* The one that stands before every text unless another is chosen; -1: none. */
int32_t mote_model_default_prompt(const mote_model* model);

/* How the model's authors compare vectors of texts: more is nearer, so distances are negative. */
typedef enum mote_similarity {
  MOTE_SIMILARITY_COSINE = 0,
  MOTE_SIMILARITY_DOT = 1,
  MOTE_SIMILARITY_EUCLIDEAN = 2,
  MOTE_SIMILARITY_MANHATTAN = 3
} mote_similarity;
mote_similarity mote_model_similarity(const mote_model* model);
/* 1: the model's vectors have length 1, so that dot products are cosines; 0: they have any length. */
int mote_model_unit_vectors(const mote_model* model);

/* Sequences one after the other, without padding. */
typedef struct mote_batch {
  const int32_t* ids;         /* [sum of lengths]; null where the program takes floats */
  const int32_t* token_types; /* [sum of lengths]; null: all 0 */
  const uint32_t* lengths;    /* [count], each from 1 to the session's context and chunk */
  uint32_t count;             /* sequences, at most the session's batch */
  const uint32_t* rows;       /* [row_count] tokens with outputs, counted over all sequences; null: all */
  uint32_t row_count;
  const float* values; /* [sum of lengths, input_width], of a program that takes floats; else null. Valid
                          until the outputs are there */
  uint64_t
      continues; /* 1: sequence i goes on from that of the runs before, of a model with a memory; else 0 */
  const uint32_t* columns; /* [count] patches in a line of each sequence's picture, of a model of pictures of
                              any size; null: those of the model's own size, or one line for others.
                              Models of depths and boxes need them */
  uint64_t reserved[3];    /* 0 */
} mote_batch;

/* Rows of outputs that mote_encode gives of a sequence of so many rows; 0: it is too short. UINT32_MAX where
   they would be more than that, of more rows than any session takes. */
uint32_t mote_model_output_rows(const mote_model* model, uint32_t rows);

/* Computes the outputs of at most `chunk` tokens; mote_session_output then has a row for each sequence or for
   each token asked for, in order. A sequence's outputs do not depend on the others. Nothing is kept for later
   calls, but the sources of a model that also decodes: those of sequences 0 to count - 1, which may not have
   tokens; null rows then mean no outputs. MOTE_CONTEXT_FULL: a sequence is too long; MOTE_WRONG_STATE: the
   model only decodes. */
mote_status mote_encode(mote_session* session, const mote_batch* batch, mote_error* error);

/* Compute as mote_encode does, in bounded parts: begin computes nothing and copies the rows of the batch that
   later steps need; a step does at most max_ops operations (0: all) and sets *done when the outputs are
   there. Until then there are no outputs. */
mote_status mote_encode_begin(mote_session* session, const mote_batch* batch, mote_error* error);
mote_status mote_encode_step(mote_session* session, uint32_t max_ops, int* done, mote_error* error);

/* Row `row` of the outputs as probabilities, as the model means it: out [width]. Numbers of a box stay. */
mote_status mote_probabilities(const mote_session* session, uint32_t row, float* out, uint32_t width,
                               mote_error* error);

/* Tokenizes and encodes one text: its vector, or the probabilities of its labels, out [width]. `flags` of
   mote_tokenize, MOTE_ADD_SPECIAL being understood; MOTE_CONTEXT_FULL for a text too long, unless
   MOTE_TRUNCATE. mote_embed puts the model's default prompt before the text, if there is one, and
   mote_embed_as the prompt of a number (mote_model_prompt), -1: none. A text behind a prompt has at most
   text_bytes bytes of the session's options: MOTE_TEXT_TOO_LONG. Vectors have length 1 where
   mote_model_unit_vectors says so; the caller divides others, or compares by mote_model_similarity. */
mote_status mote_embed(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                       uint32_t width, mote_error* error);
mote_status mote_embed_as(mote_session* session, int32_t prompt, const char* text, size_t bytes,
                          uint32_t flags, float* out, uint32_t width, mote_error* error);
mote_status mote_classify(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                          uint32_t width, mote_error* error);

/* ---- Snapshots and self test ---- */

/* Bytes that mote_session_save writes now. */
size_t mote_session_state_bytes(const mote_session* session);

/* Writes the tokens' keys, values, ids and other states, the sampler and the last logits, and zeros where
   there are none: sessions that hold the same give the same bytes. */
mote_status mote_session_save(const mote_session* session, void* out, size_t bytes, size_t* written,
                              mote_error* error);

/* Continues exactly where the saved session was; a generation in progress ends. `in` is 8-byte aligned
   (MOTE_NOT_ALIGNED). MOTE_WRONG_SNAPSHOT: it is truncated, damaged or of another version, model, kernel
   family or cache type, or has more sequences, tokens of one or of all, or rows of logits than the session
   has room for; MOTE_WRONG_STATE: the model is an encoder. The whole snapshot is checked before the first
   change: after any failure the session is as it was, a generation in progress included. */
mote_status mote_session_restore(mote_session* session, const void* in, size_t bytes, mote_error* error);

/* One sequence: its tokens' keys, values, ids and other states, and its source. Samplers and logits are the
   caller's. Bytes that mote_session_save_sequence writes now; 0 for a sequence that there is not. */
size_t mote_session_sequence_bytes(const mote_session* session, uint32_t sequence);
mote_status mote_session_save_sequence(const mote_session* session, uint32_t sequence, void* out,
                                       size_t bytes, size_t* written, mote_error* error);

/* The sequence becomes the saved one, whichever it was, of a session of the same model, kernel family, cache
   type and pages; others stay as they are. A run in progress ends and logits are dropped. Failures are those
   of mote_session_restore, and leave the session as it was. */
mote_status mote_session_restore_sequence(mote_session* session, uint32_t sequence, const void* in,
                                          size_t bytes, mote_error* error);

#ifdef __cplusplus
}
#endif

#include "mote/generation.h"
#include "mote/self_test.h"
#include "mote/text.h"

#endif
