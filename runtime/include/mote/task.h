/* SPDX-License-Identifier: Apache-2.0 */
/* The task of a model, and what it takes besides programs. */
#ifndef MOTE_TASK_H_
#define MOTE_TASK_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The thing that a model is for. Opening has proved that its programs, and what else the file says, can do
 * it. */
typedef enum mote_model_task {
  MOTE_TASK_NONE = 0,        /* hidden states */
  MOTE_TASK_GENERATE = 1,    /* goes on with a text */
  MOTE_TASK_REWRITE = 2,     /* writes a text over a source of ids: translates, sums up */
  MOTE_TASK_EMBED_TEXTS = 3, /* a vector for each */
  MOTE_TASK_LABEL_TEXTS = 4,
  MOTE_TASK_SCORE_PAIRS = 5, /* a number for a question and a text */
  MOTE_TASK_LABEL_TOKENS = 6,
  MOTE_TASK_FIND_ANSWERS = 7, /* to a question, in a text */
  MOTE_TASK_FILL_MASKS = 8,   /* tokens in place of mask_id */
  MOTE_TASK_EMBED_PICTURES = 9,
  MOTE_TASK_LABEL_PICTURES = 10,
  MOTE_TASK_DETECT = 11, /* boxes of things in a picture */
  MOTE_TASK_MEASURE_DEPTH = 12,
  MOTE_TASK_SEE = 13,           /* hidden states of a picture, which a model of texts may take */
  MOTE_TASK_READ_PICTURES = 14, /* writes down the text of a picture */
  MOTE_TASK_LABEL_SOUNDS = 15,
  MOTE_TASK_TRANSCRIBE_WORDS = 16,      /* by CTC, labels that are texts */
  MOTE_TASK_TRANSCRIBE_TOKENS = 17,     /* by CTC, labels that are tokens */
  MOTE_TASK_TRANSCRIBE_TRANSDUCER = 18, /* tokens and durations */
  MOTE_TASK_TRANSCRIBE_WINDOWS = 19,    /* Whisper: windows, timestamps, languages */
  MOTE_TASK_TRANSCRIBE_GREEDY = 20,     /* the likeliest tokens over a source of sound */
  MOTE_TASK_TRANSCRIBE_BEAMS = 21,      /* a beam search over a source of sound */
  MOTE_TASK_SPEAK = 22,
  MOTE_TASK_EMBED_SOUNDS = 23
} mote_model_task;

/* Its name ("generate"). */
const char* mote_model_task_name(mote_model_task task);

/* The task and what it needs besides programs; mote/sound.h and mote/pictures.h have more of theirs. */
typedef struct mote_task_info {
  mote_model_task task;
  int32_t mask_id;             /* of MOTE_TASK_FILL_MASKS: the token that stands for another; -1: none */
  uint32_t languages;          /* that tokens tell apart */
  uint32_t language_in_source; /* of MOTE_TASK_REWRITE. 1: the token of the language to write stands before
                                  the source; 0: it is the first of the text */
  uint64_t reserved[4];
} mote_task_info;

void mote_model_get_task(const mote_model* model, mote_task_info* info);

/* The code ("en", "eng_Latn") of one of the languages and its token; null: there is none of that number. */
const char* mote_model_language(const mote_model* model, uint32_t language, int32_t* id);

#ifdef __cplusplus
}
#endif
#endif
