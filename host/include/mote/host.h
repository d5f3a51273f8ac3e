/* SPDX-License-Identifier: Apache-2.0 */
/* A model for programs with an operating system: texts, sounds and pictures in; texts, vectors and labels
 * out. Unlike mote.h it allocates, reads files and starts threads.
 *
 *   mote_host* model;
 *   mote_host_result* opened = mote_host_open("minilm.mote", NULL, &model);
 *   if (mote_host_status(opened) != MOTE_OK) return puts(mote_host_sentence(opened));
 *   mote_host_free(opened);
 *   const mote_host_input texts[] = {{.text = "a cat"}, {.text = "a dog"}};
 *   mote_host_result* embedded = mote_host_embed(model, texts, 2, "{\"truncate\": true}", NULL);
 *   const float* vectors = mote_host_values(embedded, NULL);  // rows of mote_host_shape
 *   mote_host_free(embedded);
 *   mote_host_close(model);
 *
 * Results. Every call returns a result, never null but where not even that much memory is left; it is freed
 * by mote_host_free. A failed one has a status other than MOTE_OK, one sentence (what is wrong, where, what
 * to do) and a remedy, from which a program with options of its own says which of them helps.
 *
 * Options are a JSON object, or null for none. Its keys are the long options of the command `mote` without
 * their dashes ("top-k"), and its values numbers, texts, booleans and lists. An unknown key, a value of a
 * wrong type or out of range, and one that the model cannot honour are failures that name the key.
 * docs/host.md lists all.
 *
 * Threads. Any function may be called from any thread. Calls on one model run side by side, at most as many
 * as its option "sessions" says; others wait their turn. A chat serves one call at a time, a second one fails
 * with MOTE_WRONG_STATE. In a child of fork() a model starts threads of its own with its first call; a chat
 * that the parent began fails there with MOTE_WRONG_STATE.
 */
#ifndef MOTE_HOST_H_
#define MOTE_HOST_H_

#include <stddef.h>
#include <stdint.h>

#include "mote/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_backend;
struct mote_model;
typedef struct mote_host mote_host;               /* an open model */
typedef struct mote_host_chat mote_host_chat;     /* a conversation with one */
typedef struct mote_host_result mote_host_result; /* what a call returned */

/* The kinds of remedy that there are against a failure, for callers that have options to name. */
typedef enum mote_remedy {
  MOTE_REMEDY_NONE = 0,               /* the sentence says all */
  MOTE_REMEDY_CONVERT = 1,            /* the file is a GGUF: convert it */
  MOTE_REMEDY_CONVERT_DIRECTORY = 2,  /* the file is of a directory that can be converted */
  MOTE_REMEDY_LESS_CONTEXT = 3,       /* ask for a smaller context */
  MOTE_REMEDY_RUN_IDS = 4,            /* generate over ids */
  MOTE_REMEDY_FORWARD_IDS = 5,        /* compute over ids */
  MOTE_REMEDY_CHAT_FORMAT = 6,        /* convert it with a chat format, or continue plain texts */
  MOTE_REMEDY_FORGET_TURNS = 7,       /* reset the chat, or let it slide */
  MOTE_REMEDY_SHORTER_MESSAGE = 8,    /* say less, or ask for more context */
  MOTE_REMEDY_GENERATE = 9,           /* generate or chat */
  MOTE_REMEDY_TRUNCATE = 10,          /* cut texts that are too long */
  MOTE_REMEDY_POOLING = 11,           /* convert it with a pooling */
  MOTE_REMEDY_RANK = 12,              /* rank by vectors */
  MOTE_REMEDY_EMBED = 13,             /* embed */
  MOTE_REMEDY_GIVE_QUESTION = 14,     /* the option "question" */
  MOTE_REMEDY_NO_QUESTION = 15,       /* leave that option out */
  MOTE_REMEDY_VISION_TOWER = 16,      /* convert the directory's vision tower */
  MOTE_REMEDY_DEPTH = 17,             /* measure depth */
  MOTE_REMEDY_DETECT = 18,            /* detect */
  MOTE_REMEDY_SOUND_STEPS = 19,       /* convert it with its preprocessor; speech is transcribed */
  MOTE_REMEDY_GIVE_IDS = 20,          /* give ids in place of a text */
  MOTE_REMEDY_CONVERT_TOKENIZER = 21, /* convert it with its tokenizer */
  MOTE_REMEDY_ENCODER_TASKS = 22,     /* embed or classify */
  MOTE_REMEDY_CONTINUE_TEXT = 23,     /* generate */
  MOTE_REMEDY_WHISPER_ALONE = 24,     /* leave out "language" and what else is Whisper's */
  MOTE_REMEDY_SPEECH2TEXT_ALONE = 25, /* leave out "to" */
  MOTE_REMEDY_FEWER_THREADS = 26,     /* ask for fewer threads */
  MOTE_REMEDY_TEXT_MODEL = 27,        /* open it with "text-model" */
  MOTE_REMEDY_MORE_CONTEXT = 28,      /* ask for more context, or say less */
  MOTE_REMEDY_SAVE_STATE = 29,        /* make one with "save-state" */
  MOTE_REMEDY_VERIFY = 30,            /* verify the file */
  MOTE_REMEDY_VECTORS = 31,           /* take a model that gives vectors */
  MOTE_REMEDY_ANY_PICTURE_SIZE = 32   /* convert it for pictures of any size */
} mote_remedy;

/* ---- Results ---- */

mote_status mote_host_status(const mote_host_result* result);
/* Why the call failed, zero-terminated, without an end mark; "" where it did not. */
const char* mote_host_sentence(const mote_host_result* result);
mote_remedy mote_host_remedy(const mote_host_result* result);
/* Returns the JSON that the call found, UTF-8, zero-terminated; "null" where it failed. */
const char* mote_host_json(const mote_host_result* result);
/* Numbers of the result in row-major order: vectors, scores, samples, depths; null where it has none.
   `count`, unless it is null, becomes how many. */
const float* mote_host_values(const mote_host_result* result, uint64_t* count);
/* Their shape; sides that the result has not are 1. Zeros where there are none. */
void mote_host_shape(const mote_host_result* result, uint64_t shape[4]);
/* Token ids of the result; null where it has none. */
const int32_t* mote_host_ids(const mote_host_result* result, uint64_t* count);
/* Bytes of the result: a saved state, or a text as it is even if it is no UTF-8; null where it has none. */
const void* mote_host_bytes(const mote_host_result* result, uint64_t* count);
/* Null does nothing. */
void mote_host_free(mote_host_result* result);

/* ---- Calls ---- */

/* The input of a call: one of a text, token ids, a file's path, a file's bytes, samples, and pixels; clear
   the rest. A path beside one of the others is how messages call that one. */
typedef struct mote_host_input {
  const char* text;  /* UTF-8 */
  size_t text_bytes; /* 0: `text` ends at its zero */
  const char* path;  /* of a sound or a picture */
  const void* data;  /* bytes of such a file */
  size_t data_bytes;
  const float* samples; /* [sample_count], -1 to 1, one channel */
  uint64_t sample_count;
  uint32_t rate; /* samples a second */
  uint32_t width, height;
  const uint8_t* pixels; /* [height, width, 3], red, green, blue */
  const int32_t* ids;    /* [id_count] in place of a text */
  uint64_t id_count;
  uint64_t reserved[2];
} mote_host_input;

/* Functions that tell a caller of a call while it runs, on the thread that made the call. Each may be null.
 */
typedef struct mote_host_calls {
  void* user;
  /* 1: the call ends within one bounded step, with what it has (answers) or with MOTE_CANCELLED. */
  int (*stop)(void* user);
  /* A sentence for people: a text was cut, a default was taken. Zero-terminated. */
  void (*note)(void* user, const char* sentence);
  /* A part of an answer, a passage of a sound: whole characters. `id` is the token's, -1 where it is of none.
   */
  void (*text)(void* user, const char* text, size_t bytes, int32_t id);
  /* Samples of speech as they are made, -1 to 1, `rate` a second. */
  void (*samples)(void* user, const float* samples, uint64_t count, uint32_t rate);
  /* A segment of a sound and its seconds, whole. */
  void (*segment)(void* user, const char* text, size_t bytes, double begin, double end);
  /* The stage that an evaluation or a verification is at, zero-terminated, and the part of it that is done, 0
     to 1. */
  void (*progress)(void* user, const char* stage, double part);
  /* The text of a stretch of speech that goes on, which may still change; its first `agreed` bytes are whole
     words that stood in the text before, too. */
  void (*partial)(void* user, const char* text, size_t bytes, size_t agreed);
} mote_host_calls;

/* ---- Models ---- */

/* Opens a file, which stays mapped, or bytes, 64-byte aligned, which must outlive the model. `*model` becomes
   null where it fails. The result is that of mote_host_info. Options: threads, decode-threads, context,
   chunk, kv, sessions (default 1: calls at once, each with threads and memory of its own), vision (the file
   of a vision tower, for pictures before messages), text-model (the file of a text tower, for texts beside
   pictures or sounds), draft (the file of a smaller model with the same vocabulary, which guesses tokens), hashes
   (check the hash of every tensor too), and of bytes name (how messages call them). Calls that need such a
   file open it. */
mote_host_result* mote_host_open(const char* path, const char* options, mote_host** model);
mote_host_result* mote_host_open_bytes(const void* data, uint64_t bytes, const char* options,
                                       mote_host** model);
/* Returns the model as mote.h has it, for all that its public headers say of one. It lives as long. */
const struct mote_model* mote_host_model(const mote_host* model);
/* Set what sessions have, in place of the options; MOTE_WRONG_STATE once a call has begun. `decode_threads`
   0: all. A backend is made for mote_host_model (mote/backend.h) and must outlive the model; null: none. */
mote_status mote_host_set_threads(mote_host* model, uint32_t threads, uint32_t decode_threads);
mote_status mote_host_set_backend(mote_host* model, const struct mote_backend* backend);
/* Ends calls in progress as mote_host_cancel does, waits for them, and closes. Chats must be ended before. */
void mote_host_close(mote_host* model);

/* {"name", "architecture", "task": as mote_model_task_name has it, "tasks": the calls that the model is for,
   ["generate", ...], "vocab", "context", "width", "labels", "prompts": their names, "similarity": by which
   vectors are compared, "cosine", "dot", "euclidean" or "manhattan", "weight_bytes",
   "threads", "sessions", "memory_bytes": what sessions take now, ...} */
mote_host_result* mote_host_info(mote_host* model);
/* Hashes every tensor, unless it was opened with hashes, and replays the run that the converter stored. Tells
   the stage "hashes" by tensors, unless that, then "self test" at its begin and its end. */
mote_host_result* mote_host_verify(mote_host* model, const mote_host_calls* calls);
/* Ends all calls on the model that are in progress or wait for their turn, within one bounded step each. A
   signal's handler may call it. */
void mote_host_cancel(mote_host* model);

/* ---- Texts ---- */

/* The ids of a text or of two that belong together, and {"ids", "offsets": in characters, "types", "texts"}.
   Options: no-special, literal, offsets (false: null in place of that object). */
mote_host_result* mote_host_tokenize(mote_host* model, const mote_host_input* texts, size_t count,
                                     const char* options);
/* {"text"}. Options: special (default false: special tokens have no text). */
mote_host_result* mote_host_detokenize(mote_host* model, const int32_t* ids, size_t count,
                                       const char* options);

/* Continues inputs[0], a text or ids. The inputs behind it are pictures before a message. {"text",
   "output_ids", "finish", "prompt_ids", "prompt_ms", "decode_ms", "defaults": what was taken from the model,
   "context", "arena_bytes", of which "draft_bytes" are the draft's, "isa", "load_ms": the session's,
   "speculation": {"runs", "rows", "drafted", "stood", "off": why there were no guesses}, ...}. No inputs:
   makes the session alone. Options: tokens, greedy, temp, top-k, top-p, min-p, seed, repeat-penalty, stop (a
   text or a list), ignore-stop, speculate ("off", "auto", "lookup", "draft"), speculate-max, speculate-match
   (guesses of tokens, mote/speculate.h: the answer is the same), those of mote_host_grammar, grammar (a file
   of its tables), after-within, heal, chat (the text is a message), system, messages (the text is a
   conversation in JSON: a list of messages, or an object with messages, tools, documents and variables of the
   model's chat template), set (an object of such variables), context-full, save-state (the file that gets the
   session after the prompt), load-state (such a file, which the prompt goes on from). */
mote_host_result* mote_host_generate(mote_host* model, const mote_host_input* inputs, size_t count,
                                     const char* options, const mote_host_calls* calls);

/* Compiles the shape of answers to tables, as bytes: those of the option "grammar", and of mote/grammar.h.
   {"bytes", "states", "rules", "masks", "depth"}. A model's vocabulary gives them masks, and they fit no
   other; null: they fit any. Options: json-schema (an object, its text, or a file), any-json, regex, choice
   (a text or a list), gbnf (a file), trigger (TEXT=SCHEMA, or a list), whitespace, digits, after,
   grammar-depth, grammar-states, grammar-bytes, grammar-seconds. */
mote_host_result* mote_host_grammar(mote_host* model, const char* options);

/* Vectors [count, width] of texts, of pictures for a model of pictures, or of sounds for a Whisper or an
   encoder of sound without a head: the mean of its last hidden states over the frames that have sound. Texts
   have the model's default prompt before them unless options say otherwise. Vectors have length 1 where
   mote_model_unit_vectors (mote.h) of mote_host_model says so. Options: prompt, prompt-name, truncate, size
   (of pictures for a model of any size: "WIDTHxHEIGHT", "longest=N", "shortest=N" or "own"). This call and
   those below it that take `count` inputs may get none: they say what is wrong with the model and the
   options, and begin what later calls go on with. */
mote_host_result* mote_host_embed(mote_host* model, const mote_host_input* inputs, size_t count,
                                  const char* options, const mote_host_calls* calls);
/* Scores [count] of texts for texts[0], the query, by vectors or by a cross encoder, of the texts behind it;
   and
   [{"score", "index"}, ...], the best first, indices from 0 behind the query. Options: top, truncate, and of
   rank prompt and prompt-name. */
mote_host_result* mote_host_rank(mote_host* model, const mote_host_input* texts, size_t count,
                                 const char* options, const mote_host_calls* calls);
mote_host_result* mote_host_rerank(mote_host* model, const mote_host_input* texts, size_t count,
                                   const char* options, const mote_host_calls* calls);
/* For each text, by the model's head: {"text", "labels" | "entities" | "answers" | "masks"}; for each sound
   or picture
   {"labels"}. Texts behind pictures or sounds are compared with them by a text tower. Options: top, question, pairs
   (inputs 0 and 1 belong together, 2 and 3, ...), truncate, size (as of mote_host_embed). */
mote_host_result* mote_host_classify(mote_host* model, const mote_host_input* inputs, size_t count,
                                     const char* options, const mote_host_calls* calls);
/* For each text, what the model generates over it: [{"text", "source_ids", "hypotheses": [{"text", "ids",
   "score"}, ...]}, ...], the best first, which calls->text gets as it is found. For ids, without texts.
   Options: beams, tokens, speculate ("off", "auto", "lookup": guesses of a greedy search), speculate-max,
   speculate-match, and of translate from and to, languages of models that have several. Each has
   "speculation" as mote_host_generate does. */
mote_host_result* mote_host_translate(mote_host* model, const mote_host_input* texts, size_t count,
                                      const char* options, const mote_host_calls* calls);
mote_host_result* mote_host_summarize(mote_host* model, const mote_host_input* texts, size_t count,
                                      const char* options, const mote_host_calls* calls);
/* Attention maps of a text by the reference kernels, as values, one map after the other, and {"tokens",
   "answer_ids", "maps": [{"program", "op", "heads", "rows", "keys", "crosses", "offset"}, ...]}: a map is
   [heads, rows, keys] from its offset on. A model with a source has those of the answer that it generates
   too. */
mote_host_result* mote_host_attention(mote_host* model, const mote_host_input* text,
                                      const mote_host_calls* calls);
/* Tells how well a model does, by one of the options: perplexity of a text or of ids ({"perplexity",
   "tokens", "window"}, and beside `other` of the same vocabulary, unless it is null, {"other_perplexity",
   "mean_kl", "top1_agreement"}); exact answers to questions, a question, a tab and its answer a line
   ({"accuracy", "equal", "questions"}); accuracy of labels, a text, a tab and its label a line ({"accuracy",
   "right", "lines", "f1", "macro_f1"}); spearman of likeness, two texts and a score a line ({"spearman",
   "lines"}). Each is true. Options: window, limit, truncate. */
mote_host_result* mote_host_evaluate(mote_host* model, mote_host* other, const mote_host_input* input,
                                     const char* options, const mote_host_calls* calls);
/* Renders a chat template in Jinja, inputs[0], over a conversation in JSON, inputs[1]: {"text"}.
   The text is the result's bytes too. Options: date, no-answer, and set, an object of variables. */
mote_host_result* mote_host_template(const mote_host_input* inputs, size_t count, const char* options);

/* ---- Sounds and pictures ---- */

/* Speech to text, or the text of a picture: {"text", "segments": [{"id", "start", "end" in seconds, "begin",
   which is "start", "text"; of Whisper also "tokens", "temperature", "avg_logprob", "compression_ratio",
   "no_speech_prob"}, ...], "language", "heard", "damage": what is wrong with the file}; the text is the
   result's bytes too. calls->text gets each passage and calls->segment each segment as it is known. Where
   passages are words ("task" of mote_host_info is "transcribe_words") they are {"words": [...]} too, and join
   to segments at the end.
   calls->progress gets the stage "transcribe" where the sound's length is known.
   Options: vad (only stretches in which somebody speaks are heard), live (each of these is transcribed once
   it is over, while the sound comes; "latency" of the result: {"stretches", "mean", "most"}, seconds),
   partial (calls->partial gets the text of such a stretch while it goes on), listen (the name of a device of
   ALSA, which is heard in place of the input until the call is stopped; in builds with ALSA), words (segments
   have "words": [{"word", "start", "end", "probability"}, ...] too; of Whisper, CTC and transducers), offset
   and duration (seconds of the part that is heard; times are those of the whole), channel (mix, left, right),
   to; of Whisper: language (a code or an English name), detect-language (instead of a transcript
   {"language", "languages": [{"language", "probability"}, ...]}, the likeliest first), translate (into
   English), prompt, carry-prompt, hotwords, beams, best-of, temperature (a list), condition, batch (windows
   that are decoded at once; not live), timestamps, suppress (ids; -1: those of the file), speculate,
   speculate-max and speculate-match as of mote_host_generate (given: the result has "speculation"; the draft
   is a smaller Whisper), logprob-threshold, compression-threshold, no-speech-threshold (null: none).
   docs/cli.md says what they do. */
mote_host_result* mote_host_transcribe(mote_host* model, const mote_host_input* input, const char* options,
                                       const mote_host_calls* calls);
/* Samples [n] of a text that is said, or of ids, and {"rate", "samples", "seconds"}. Options: seed, speed,
   speaker (a number or a name), noise, duration-noise, phonemes (the text is phonemes already),
   output (a .wav or .flac that gets the samples, in place of values), values (false: calls->samples alone
   gets them). */
mote_host_result* mote_host_speak(mote_host* model, const mote_host_input* text, const char* options,
                                  const mote_host_calls* calls);
/* For each picture {"width", "height", "boxes": [{"label", "probability", "box": [left, top, right, bottom]},
   ...]} in pixels, the likeliest first. Options: threshold, size (as of mote_host_embed). */
mote_host_result* mote_host_detect(mote_host* model, const mote_host_input* pictures, size_t count,
                                   const char* options, const mote_host_calls* calls);
/* Depths [height, width] of a picture's pixels, and {"width", "height", "least", "most"}. Options: output (a
   PNG of grey that gets the depths, in place of values), size (as of mote_host_embed). */
mote_host_result* mote_host_depth(mote_host* model, const mote_host_input* picture, const char* options,
                                  const mote_host_calls* calls);

/* ---- Conversations ---- */

/* Begins a conversation: {"defaults", "context", "arena_bytes", "isa"}. Options as of mote_host_generate,
   with temperature and the like as the model's authors say by default, and context-full: "slide" by default,
   which forgets the oldest turns. The model must outlive the chat. */
mote_host_result* mote_host_chat_begin(mote_host* model, const char* options, mote_host_chat** chat);
/* Answers inputs[0], a text, behind which pictures may stand. The result is that of mote_host_generate with
   "prompt_tokens" and "reused_tokens". A failed message is forgotten. */
mote_host_result* mote_host_chat_say(mote_host_chat* chat, const mote_host_input* inputs, size_t count,
                                     const mote_host_calls* calls);
/* Begins another conversation. */
mote_host_result* mote_host_chat_reset(mote_host_chat* chat);
/* The turns and what is computed of them, as bytes; and such bytes taken up by a chat with the same model and
   options. A failed load leaves the chat as it was. */
mote_host_result* mote_host_chat_save(mote_host_chat* chat);
mote_host_result* mote_host_chat_load(mote_host_chat* chat, const void* data, uint64_t bytes);
void mote_host_chat_end(mote_host_chat* chat);

#ifdef __cplusplus
}
#endif
#endif
