/* SPDX-License-Identifier: Apache-2.0 */
/* mote: runs a .mote model without a heap.
 *
 *   static uint64_t storage[MOTE_MODEL_BYTES / 8];                   (error handling left out)
 *   mote_model* model;  mote_session* session;
 *   mote_model_open(file, bytes, 0, storage, sizeof storage, &model, &error);
 *   mote_session_options options = mote_session_options_default(model);
 *   void* arena = <64-byte aligned memory of mote_session_bytes(model, &options) bytes>;
 *   mote_session_init(model, &options, arena, arena_bytes, &session, &error);
 *   mote_generate(session, ids, n, &generation, on_token, user, &error);
 *
 * Ownership: the caller owns the file's bytes, the storage and the arena; they must outlive, unmoved, the
 * objects made in them. Nothing is ever freed because nothing is allocated: an object ends when its memory is
 * reused. Threads: a model may be shared by any number of sessions; a session is for one thread at a time.
 * Errors: every call that can fail returns a mote_status and fills `error` unless it is null. After a failed
 * call the session is as it was before, unless the call says otherwise.
 * Structs: what is called reserved or unused is 0 and makes room for later versions; take options from the
 * functions that give their defaults, and clear the others.
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
   64-byte aligned (MOTE_NOT_ALIGNED); `storage` has at least MOTE_MODEL_BYTES bytes (MOTE_TOO_SMALL). */
mote_status mote_model_open(const void* data, size_t bytes, uint32_t flags, void* storage,
                            size_t storage_bytes, mote_model** model, mote_error* error);

typedef enum mote_kv_dtype {
  MOTE_KV_AUTO = 0, /* f32 where the weights are f32, or q8c below a head of f32 or f16; i8 for encoders of
                       quantized weights where the kernel family has it (all of x86-64 but REF); else f16 */
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

/* The model's context, but of a model with attention at most 4096, chunk 64, one sequence, words of 64 KiB if
   the model has a tokenizer, mote_platform_default(). Of an encoder, which reads a sequence whole, the chunk is
   the context, and there is room for the outputs of all tokens, or of 16 where each is a row of logits over the
   vocabulary. Where tokens have sources the chunk has room for the longest. */
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

/* `arena` is 64-byte aligned. Its content need not be cleared. */
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
  uint32_t wants_output; /* 1: it has a row of outputs; 0: not. All equal where outputs are of sequences or groups */
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
   there is a row for each; where they are of groups of rows, as a model of sound has them, one for each group. Sources (mote_program_info) are whole sequences too, of any numbers, each once.
   All calls below that compute are made of this one: a server that serves many sequences mixes prompts and
   single tokens in one call. MOTE_CONTEXT_FULL: a sequence exceeds the context, or all together kv_positions.
   MOTE_WRONG_STATE: a sequence has no source yet, or has tokens when it is given another. */
mote_status mote_compute(mote_session* session, const mote_rows* rows, mote_error* error);

/* The same in bounded parts: begin computes nothing and copies the rows; a step does at most max_ops
   operations (0: all) and sets *done when the outputs are there. A call that begins another computation drops
   this one. */
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
   null if there is none. */
const float* mote_session_logits(const mote_session* session, uint32_t row);

/* The same of any output, of mote_encode too: [width] of mote_output_info. */
const float* mote_session_output(const mote_session* session, uint32_t row);

/* Tokens of a sequence. */
uint32_t mote_session_length(const mote_session* session, uint32_t sequence);

/* Drops the tokens of a sequence from `length` on. With a sliding window at least the last 128 tokens can be
   dropped, or all; what needs tokens that the window has left behind is MOTE_INVALID_ARGUMENT.
   The state of a convolution or of a recurrent layer keeps no earlier one: with it, all can be dropped, or
   none. */
mote_status mote_session_truncate(mote_session* session, uint32_t sequence, uint32_t length,
                                  mote_error* error);

/* The shortest length, 0 aside, that mote_session_truncate can give the sequence now: tokens from there on may
   be a guess that is taken back. */
uint32_t mote_session_shortest(const mote_session* session, uint32_t sequence);

/* Tokens that a segment of a sequence sees of those before it (Transformer-XL), 0: the model has no segments. */
uint32_t mote_model_memory(const mote_model* model);

/* The tokens that follow are a further segment: they see each other and the last of those before, as many as the
   memory has. A run in progress ends. Snapshots are of sequences in their first segment.
   mote_session_truncate reaches back to the segment's beginning, or to 0, where a first segment begins. */
mote_status mote_session_begin_segment(mote_session* session, uint32_t sequence, mote_error* error);

/* Sequence `to` becomes a copy of `from`. Both hold the same pages; the first to append to a page that is not
   full copies it. What convolutions and recurrent layers keep is copied at once. A run in progress ends and
   logits are dropped. */
mote_status mote_session_fork(mote_session* session, uint32_t from, uint32_t to, mote_error* error);

/* The same for all at once: sequence i becomes a copy of what from[i], [batch], was. A step of beam search.
 */
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
  MOTE_OUTPUT_BOXES = 7 /* of a row: logits of the labels and of none, then the box's middle (column, row), width and
                           height as shares of the picture */
} mote_output_kind;

/* How a picture becomes the rows of a program that takes floats: `before` rows of 0, a row for each patch, from left to
   right and then down, `after` rows of 0. */
typedef struct mote_picture_info {
  uint32_t height, width; /* pixels, multiples of the patch's */
  uint32_t channels, patch;
  uint32_t before, after;
  uint32_t rows, row_width; /* of all; floats of each */
  /* What makes pixel values of a picture of any size, in this order. */
  uint32_t resize_height; /* 0: it is not resized */
  uint32_t resize_width;  /* 0: the shorter side becomes resize_height, the longer keeps the ratio */
  uint32_t resample;      /* 2: bilinear, 3: bicubic, both over all pixels that a new one covers */
  uint32_t crop_height;   /* of the middle; 0: it is not cropped */
  uint32_t crop_width;
  float rescale;                 /* of bytes; 0: the file has no such steps */
  const float *mean, *deviation; /* [channels], taken off and divided by; null without steps */
  float similarity_scale, similarity_bias; /* logits of a picture and a text: scale * cosine + bias; scale 0: none */
  int any_size;         /* 1: mote_picture_of_size takes other sizes */
  uint32_t rope_width;  /* columns of rows behind the pixels */
  float rope_base;
  uint32_t positions_side; /* its square: columns of rows behind those */
  int channels_last;       /* 1: pixels of a row are [patch, patch, channels]; 0: [channels, patch, patch] */
  uint32_t merge;          /* rows of patches come in squares of merge x merge, as sides are multiples of them */
  int angles_by_place;     /* 1: angles of rope grow from patch to patch; 0: from one end of the picture to the other */
  int positions_by_corners; /* 1: of any size, the table's ends lie on the picture's */
  /* Of pictures whose sides are rounded to multiples of patch * merge: the pixels of the result. 0: not so. */
  uint32_t least_pixels, most_pixels;
  /* Of pictures that are cut: the longer side becomes `longest`, both become multiples of `tile`, and the whole follows
     as one more. 0: they are not. */
  uint32_t longest, tile;
  uint32_t frames; /* pixels of a row are [channels, frames, patch, patch], the same in each frame */
  uint32_t unused;
  uint64_t reserved[2];
} mote_picture_info;

/* MOTE_WRONG_STATE where the model takes no pictures. */
mote_status mote_model_get_picture(const mote_model* model, mote_picture_info* info, mote_error* error);

/* The same of pictures of another size, multiples of the patch's. */
mote_status mote_picture_of_size(const mote_model* model, uint32_t height, uint32_t width, mote_picture_info* info,
                                 mote_error* error);

/* `rows`, [rows, row_width], of pixel values [channels, height, width]. */
void mote_picture_rows(const mote_picture_info* info, const float* pixels, float* rows);

/* What a model that reads texts takes of pictures. Their vectors are the outputs of another file, of the model that sees
   (mote_encode), a row for each of `features` floats; its prompts have image_id for each. */
typedef struct mote_sight_info {
  int32_t image_id;
  uint32_t features;
  uint32_t rows;  /* of each picture; 0: by its size */
  uint32_t mrope; /* 1: positions depend on the row and the column in the picture */
  /* Special tokens of a prompt, zero-terminated, in the file: around the image_ids of a picture; before those of a tile,
     {row} and {column} from 1 on; after a line of tiles; before those of the whole after them. Null: no tiles. */
  const char *before, *after, *tile_before, *line_after, *whole_before;
  uint64_t reserved[4];
} mote_sight_info;

/* MOTE_WRONG_STATE where the model takes no pictures' vectors. */
mote_status mote_model_get_sight(const mote_model* model, mote_sight_info* info, mote_error* error);

/* The vectors of a picture or a tile, of a grid from left to right and then down. */
typedef struct mote_seen {
  const float* features; /* [rows * columns, features] */
  uint32_t rows, columns;
} mote_seen;

/* The values, [n, input_width], of a prompt that its sequence begins with, for mote_compute. The pictures are those of
   its image_ids in order. Later tokens take none. MOTE_INVALID_ARGUMENT: the prompt has not as many image_ids, or not in
   one piece for each picture. */
mote_status mote_sight_values(const mote_model* model, const int32_t* ids, uint32_t n, const mote_seen* seen,
                              uint32_t count, float* values, mote_error* error);

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
  uint32_t global_type; /* types from it on are of global tokens, which all see and which see all; 0: no such */
  uint32_t memory;      /* tokens of a sequence's earlier runs that a run can go on from; 0: none */
  uint64_t reserved[3];
} mote_output_info;

void mote_model_get_output(const mote_model* model, mote_output_info* info);

/* Zero-terminated, in the file; null for one that there is not. */
const char* mote_model_label(const mote_model* model, uint32_t label);

/* What the model's authors put before a text, and its name ("query"), if that is not null. Zero-terminated, in
   the file; null for one that there is not. */
const char* mote_model_prompt(const mote_model* model, uint32_t prompt, const char** name);
/* The one that stands before every text unless another is chosen; -1: none. */
int32_t mote_model_default_prompt(const mote_model* model);

/* Sequences one after the other, without padding. */
typedef struct mote_batch {
  const int32_t* ids;         /* [sum of lengths]; null where the program takes floats */
  const int32_t* token_types; /* [sum of lengths]; null: all 0 */
  const uint32_t* lengths;    /* [count], each from 1 to the session's context and chunk */
  uint32_t count;             /* sequences, at most the session's batch */
  const uint32_t* rows;       /* [row_count] tokens with outputs, counted over all sequences; null: all */
  uint32_t row_count;
  const float* values;  /* [sum of lengths, input_width], of a program that takes floats; else null. Valid until
                           the outputs are there */
  uint64_t continues; /* 1: sequence i goes on from that of the runs before, of a model with a memory; else 0 */
} mote_batch;

/* Rows of outputs that mote_encode gives of a sequence of so many rows; 0: it is too short. */
uint32_t mote_model_output_rows(const mote_model* model, uint32_t rows);

/* What rows of a spectrum are. */
typedef enum mote_sound_features {
  MOTE_FEATURES_NONE = 0,             /* the file does not say */
  MOTE_FEATURES_LOG_MEL = 1,          /* Whisper's (mote/sound.h): `bins` of `fft` samples every `hop` */
  MOTE_FEATURES_COMPRESSED_FRAMES = 2, /* mote_compress_frames of `hop` samples with `scale` (mote/sound.h) */
  MOTE_FEATURES_NORMALIZED_LOG_MEL = 3 /* NeMo's (mote/sound.h): `bins` of `fft` samples every `hop` in a Hann
                                          window of `window`, of sample t less `scale` times sample t - 1 */
} mote_sound_features;

/* What a model that hears takes of sound. */
typedef struct mote_sound_info {
  uint32_t rate;      /* samples of a second; 0: the model takes no sound */
  uint32_t waveform;  /* 1: rows are input_width neighbouring samples; 0: what was made of windows of them */
  uint32_t window;    /* samples that a waveform's first convolution reads at once */
  uint32_t normalize; /* 1: the samples have mean 0 and variance 1 */
  int32_t blank;      /* the label of CTC that stands for nothing, other labels being texts; -1: none is */
  /* Where patch is not 0, a sequence is `before` rows of zeros, then squares of patch bins x patch frames of
     a spectrum [frames, bins], bin by bin: those of all frames, frame_step apart, for every bin_step bins.
     Elsewhere a sequence has `frames` rows, or any number where that is 0. */
  uint32_t patch, frame_step, bin_step, frames, bins, before;
  mote_sound_features features;
  uint32_t fft, hop;
  float scale;
  uint32_t reserved[1];
} mote_sound_info;

void mote_model_get_sound(const mote_model* model, mote_sound_info* info);

/* Ids of a decoder of speech that are no text, -1 for none; lists are in the file. */
typedef struct mote_speech_info {
  uint32_t languages;                /* that are told apart */
  int32_t transcribe, translate;     /* behind the language: the text is in it, or in English */
  int32_t no_timestamps;             /* behind that */
  int32_t first_timestamp;           /* that of 0 seconds; from it on each id is 20 ms later */
  int32_t previous;                  /* in front of earlier text */
  int32_t no_speech;                 /* its probability behind the first token is that of silence */
  uint32_t suppressed_count, suppressed_first_count, duration_count;
  const int32_t* suppressed;         /* never chosen */
  const int32_t* suppressed_first;   /* nor these as the first of a text */
  const uint32_t* durations;         /* of a transducer: groups that each column behind the labels' moves on */
  uint64_t reserved[4];
} mote_speech_info;

void mote_model_get_speech(const mote_model* model, mote_speech_info* info);

/* The code ("en") of one of the languages and its token; null: there is none of that number. */
const char* mote_model_language(const mote_model* model, uint32_t language, int32_t* id);

/* Rows that so many samples are, the last perhaps filled up with zeros: as many as windows begin in and end.
   0: there are too few samples. */
uint32_t mote_sound_rows(const mote_model* model, uint64_t samples);

/* Computes the outputs of at most `chunk` tokens; mote_session_output then has a row for each sequence or for
   each token asked for, in order. A sequence's outputs do not depend on the others. Nothing is kept for later
   calls, but the sources of a model that also decodes: those of sequences 0 to count - 1, which may not have
   tokens; null rows then mean no outputs. MOTE_CONTEXT_FULL: a sequence is too long; MOTE_WRONG_STATE: the
   model only decodes. */
mote_status mote_encode(mote_session* session, const mote_batch* batch, mote_error* error);

/* The same in bounded parts: begin computes nothing and copies what it needs of the batch; a step does at
   most max_ops operations (0: all) and sets *done when the outputs are there. Until then there are none. */
mote_status mote_encode_begin(mote_session* session, const mote_batch* batch, mote_error* error);
mote_status mote_encode_step(mote_session* session, uint32_t max_ops, int* done, mote_error* error);

/* Row `row` of the outputs as probabilities, as the model means it: out [width]. */
mote_status mote_probabilities(const mote_session* session, uint32_t row, float* out, uint32_t width,
                               mote_error* error);

/* Tokenizes and encodes one text: its vector, or the probabilities of its labels, out [width]. `flags` of
   mote_tokenize, MOTE_ADD_SPECIAL being understood; MOTE_CONTEXT_FULL for a text too long, unless
   MOTE_TRUNCATE. */
mote_status mote_embed(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                       uint32_t width, mote_error* error);
mote_status mote_classify(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                          uint32_t width, mote_error* error);

/* ---- Text ---- */

/* Bytes [begin, end) of a text. */
typedef struct mote_span {
  uint32_t begin, end;
} mote_span;

enum {
  MOTE_ADD_SPECIAL = 1,   /* the tokens that the model wants around a text */
  MOTE_PARSE_SPECIAL = 2, /* "<|im_end|>" in the text is the token; never for text that nobody vouches for */
  MOTE_TRUNCATE = 4 /* what does not fit is left out before the tokens that MOTE_ADD_SPECIAL puts last */
};

/* Turns a text into ids as the model's own tokenizer does. Any bytes will do: what is not UTF-8 counts as
   U+FFFD.
   `*count` is the number of tokens, also if `capacity` is less (MOTE_TOO_SMALL, or MOTE_OK with
   MOTE_TRUNCATE: `ids` holds the first). Unless null, `offsets`, [capacity], says which bytes each token came
   from, whole characters; those of added tokens are {0, 0}. MOTE_TEXT_TOO_LONG: a word exceeds the session's
   text_bytes. */
mote_status mote_tokenize(mote_session* session, const char* text, size_t bytes, uint32_t flags, int32_t* ids,
                          uint32_t capacity, uint32_t* count, mote_span* offsets, mote_error* error);

#define MOTE_NO_TEXT 255

/* What a token is in a text or a pair of texts. */
typedef struct mote_token_kind {
  uint8_t type; /* the token type id that the model wants with it */
  uint8_t text; /* 0: from the first text, 1: from the second, MOTE_NO_TEXT: added around them */
} mote_token_kind;

/* As mote_tokenize, of two texts put together the model's way, "[CLS] first [SEP] second [SEP]" for BERT,
   when MOTE_ADD_SPECIAL asks for it. A null `second` leaves the first alone. Offsets are in the token's own
   text. Unless null, `kinds`, [capacity], says what each token is. MOTE_UNSUPPORTED_FILE: the model's way is
   one that mote does not know, for example with the second text first. */
mote_status mote_tokenize_pair(mote_session* session, const char* first, size_t first_bytes,
                               const char* second, size_t second_bytes, uint32_t flags, int32_t* ids,
                               uint32_t capacity, uint32_t* count, mote_span* offsets, mote_token_kind* kinds,
                               mote_error* error);

enum {
  MOTE_SKIP_SPECIAL = 1,      /* tokens that are signs for the model give no text */
  MOTE_KEEP_LEADING_SPACE = 2 /* for text that continues other text */
};

/* A text being put together from ids; the caller owns it and never looks inside. */
typedef struct mote_detokenizer {
  uint32_t flags;
  uint8_t pending[4]; /* of a character that is not whole yet */
  uint8_t pending_bytes;
  uint8_t strip;
  uint8_t started;
  uint8_t unused[5];
} mote_detokenizer;

/* Bytes that `out` of the next two calls must have; 0 without a tokenizer. */
size_t mote_detokenizer_room(const mote_model* model);

mote_status mote_detokenizer_start(const mote_model* model, uint32_t flags, mote_detokenizer* state,
                                   mote_error* error);

/* Writes the text that a token adds, whole characters only and no zero at the end: often none, when a
   character takes several tokens. Bytes that make no character become U+FFFD. */
mote_status mote_detokenizer_next(const mote_model* model, mote_detokenizer* state, int32_t id, char* out,
                                  size_t out_bytes, size_t* written, mote_error* error);

/* Writes U+FFFD if a character broke off. */
mote_status mote_detokenizer_finish(const mote_model* model, mote_detokenizer* state, char* out,
                                    size_t out_bytes, size_t* written, mote_error* error);

/* The bytes that a token stands for, perhaps part of a character, in the file; null if it stands for none. */
const char* mote_token_text(const mote_model* model, int32_t id, size_t* bytes);

/* ---- Sampling and generation ---- */

typedef struct mote_sampling {
  float temperature;          /* 0: greedy, the lowest id among equals */
  uint32_t top_k;             /* 0: all */
  float top_p;                /* 1: all */
  float min_p;                /* 0: all; tokens less likely than min_p times the likeliest are dropped */
  float repetition_penalty;   /* 1: none (Keskar et al. 2019), over the last repetition_window tokens */
  uint32_t repetition_window; /* 0 to MOTE_REPETITION_WINDOW */
  uint64_t seed;
  uint64_t reserved[4]; /* 0 */
} mote_sampling;

#define MOTE_REPETITION_WINDOW 256

/* Greedy. */
mote_sampling mote_sampling_default(void);

/* Restarts the random sequence and forgets the repetition window; also done by mote_generation_begin, whose
   window then has the ids that sequence 0 holds, computed, reused or restored, and the prompt. */
mote_status mote_sampler_init(mote_session* session, const mote_sampling* sampling, mote_error* error);

/* Picks an id from row `row` of the logits. NaN logits are never picked; all NaN: id 0. Of a session's
 * sampler. */
mote_status mote_sample(mote_session* session, uint32_t row, int32_t* id, mote_error* error);

typedef struct mote_generation {
  mote_sampling sampling;
  uint32_t max_tokens;     /* 0: until the context is full */
  const int32_t* stop_ids; /* in addition to the model's; must stay valid until the generation ends */
  uint32_t stop_count;
  int ignore_model_stops; /* 1: only stop_ids stop */
  uint64_t reserved[4];   /* 0 */
} mote_generation;

mote_generation mote_generation_default(void);

typedef enum mote_finish {
  MOTE_FINISH_NONE = 0,
  MOTE_FINISH_LENGTH = 1,
  MOTE_FINISH_STOP = 2,
  MOTE_FINISH_CONTEXT = 3,
  MOTE_FINISH_CANCELLED = 4
} mote_finish;

/* What a step brought: has_token says whether `id` is a new token; finish != NONE ends the generation. A stop
   id is reported as a token too, with finish STOP. */
typedef struct mote_event {
  int has_token;
  int32_t id;
  mote_finish finish;
  uint32_t reserved[5];
} mote_event;

/* Starts a generation on sequence 0 after its present tokens: n >= 0 further prompt ids (copied never: they
   must stay valid until prefilled; n 0 needs logits of an earlier call). */
mote_status mote_generation_begin(mote_session* session, const int32_t* ids, uint32_t n,
                                  const mote_generation* generation, mote_error* error);

/* Does a bounded part of the work: at most max_ops operations of the model's program (0: up to the next
   token). A single-threaded loop calls it again and again and stays responsive. Other calls that compute end
   the generation. */
mote_status mote_session_step(mote_session* session, uint32_t max_ops, mote_event* event, mote_error* error);

/* Returns nonzero to stop. */
typedef int (*mote_on_token)(void* user, int32_t id);

/* mote_generation_begin and steps to the end. The sequence then holds the prompt and every reported token but
   the last. `finish` may be null. */
mote_status mote_generate(mote_session* session, const int32_t* ids, uint32_t n,
                          const mote_generation* generation, mote_on_token on_token, void* user,
                          mote_finish* finish, mote_error* error);

/* ---- Beam search ---- */

/* When the search ends before all beams have. Scores are a hypothesis' sum of log-probabilities, divided by its
   number of tokens to the power of length_penalty. */
typedef enum mote_beam_stop {
  MOTE_STOP_AT_GUESS = 0, /* no beam would be better than the worst of the hypotheses if it ended now */
  MOTE_STOP_EARLY = 1,    /* there are as many hypotheses as beams */
  MOTE_STOP_NEVER = 2     /* as AT_GUESS, but with a positive length_penalty as if beams were max_tokens long */
} mote_beam_stop;

typedef struct mote_beam_options {
  uint32_t beams;      /* at most the session's batch, and 256 */
  uint32_t max_tokens; /* of a hypothesis, 1 to the context; there must be room for them */
  float length_penalty;
  mote_beam_stop early_stopping;
  const int32_t* stop_ids; /* in addition to the model's */
  uint32_t stop_count;
  int ignore_model_stops;        /* 1: only stop_ids stop */
  const int32_t* suppressed_ids; /* tokens that are never chosen */
  uint32_t suppressed_count;
  int32_t forced_first_id;  /* the first token, -1: any */
  int32_t forced_last_id;   /* the token at max_tokens, -1: any */
  uint32_t unused;          /* not read */
  uint32_t min_tokens;      /* no stop id is among so many first tokens */
  uint32_t no_repeat_ngram; /* n: no n tokens in a row are twice in a sequence; 0: they may be */
  /* Log-probabilities of tokens that a sequence has are multiplied by it, logits where there is one beam, which
     is a greedy search, and are divided by it where they are positive. 0 and 1: none. */
  float repetition_penalty;
  uint64_t reserved[2]; /* 0 */
} mote_beam_options;

/* One beam, a length penalty of 1, nothing forced; max_tokens is to be set. */
mote_beam_options mote_beam_options_default(void);

/* What the model's authors search with, one beam where the file says nothing. max_tokens 0: they say nothing of
   it. Pointers are into the file. One beam with MOTE_STOP_EARLY is a greedy search. */
mote_beam_options mote_model_beam_options(const mote_model* model);

/* Bytes that a search takes, 0 if the options are invalid. */
size_t mote_beam_bytes(const mote_session* session, const mote_beam_options* options);

typedef struct mote_beam {
  const int32_t* ids; /* [count], the stop id included; in the search's memory */
  uint32_t count;     /* 0: none was found */
  float score;
} mote_beam;

/* Goes on from the logits of row 0, which are of sequence 0, and writes the best hypotheses, [beams] in
   descending order. Sequences 0 to beams - 1 hold the beams, which share the pages of what they have in
   common; what the others than 0 had is dropped. `memory` is 8-byte aligned. */
mote_status mote_beam_search(mote_session* session, const mote_beam_options* options, void* memory,
                             size_t memory_bytes, mote_beam* beams, mote_error* error);

/* ---- Conversations ---- */

typedef enum mote_role { MOTE_ROLE_SYSTEM = 0, MOTE_ROLE_USER = 1, MOTE_ROLE_ASSISTANT = 2 } mote_role;

typedef struct mote_message {
  mote_role role;
  const char* text; /* [bytes], UTF-8, need not end in a zero */
  size_t bytes;
  uint32_t pictures; /* of a user's message, before its text (mote_sight_info): image_id once for each */
} mote_message;

/* "chatml" and so on; null if the file holds no chat format. */
const char* mote_chat_format(const mote_model* model);

/* Writes the text that stands for the conversation, by the model's chat format; with `answer` it ends where
   the model's answer begins. A system message must come first. Formats for models that know no conversations
   render the last user message on. `out` may be null to ask for `bytes` alone;
   MOTE_TOO_SMALL where `capacity` does not do. No zero is written. */
mote_status mote_chat_render(const mote_model* model, const mote_message* messages, uint32_t count,
                             int answer, char* out, size_t capacity, size_t* bytes, mote_error* error);

/* Renders a conversation into `text` and tokenizes it. Special tokens are those of the chat format alone:
   what a message says is text, even if it looks like one. `*count` as in mote_tokenize. */
mote_status mote_chat_tokenize(mote_session* session, const mote_message* messages, uint32_t count,
                               int answer, char* text, size_t text_capacity, int32_t* ids, uint32_t capacity,
                               uint32_t* id_count, mote_error* error);

/* ---- Snapshots and self test ---- */

/* Bytes that mote_session_save writes now. */
size_t mote_session_state_bytes(const mote_session* session);

/* Writes the tokens' keys, values, ids and other states, the sampler and the last logits, and zeros where there
   are none: sessions that hold the same give the same bytes. */
mote_status mote_session_save(const mote_session* session, void* out, size_t bytes, size_t* written,
                              mote_error* error);

/* Continues exactly where the saved session was; a generation in progress ends. `in` is 8-byte aligned
   (MOTE_NOT_ALIGNED). MOTE_WRONG_SNAPSHOT: it is truncated, damaged or of another version, model, kernel
   family or cache type, or has more sequences, tokens of one or of all, or rows of logits than the session
   has room for; MOTE_WRONG_STATE: the model is an encoder. The whole snapshot is checked before the first
   change: after any failure the session is as it was, a generation in progress included. */
mote_status mote_session_restore(mote_session* session, const void* in, size_t bytes, mote_error* error);

typedef struct mote_self_test {
  float largest_difference; /* of the logits */
  float tolerance;
  uint32_t equal_ids, ids; /* of the greedy continuation */
  uint64_t reserved[4];
} mote_self_test;

/* Replays the run stored at conversion and empties the session. MOTE_SELF_TEST_FAILED if it differs by more
   than the tolerance, MOTE_WRONG_STATE if the file has none. */
mote_status mote_session_self_test(mote_session* session, mote_self_test* result, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
