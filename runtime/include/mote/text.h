/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tokens and back, and conversations. mote.h includes it. */
#ifndef MOTE_TEXT_H_
#define MOTE_TEXT_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes [begin, end) of a text. */
typedef struct mote_span {
  uint32_t begin, end;
} mote_span;

enum {
  MOTE_ADD_SPECIAL = 1,   /* the tokens that the model wants around a text */
  MOTE_PARSE_SPECIAL = 2, /* "<|im_end|>" in the text is the token; never for text that nobody vouches for.
                             Without it no text becomes a special token, normalized either, but the unknown
                             one and one that is a single character */
  MOTE_TRUNCATE = 4, /* what does not fit is left out before the tokens that MOTE_ADD_SPECIAL puts last; where
                        the model's texts are cut at their beginning, there. A pair's second text is cut */
  MOTE_CUT_LONGER = 8 /* with MOTE_TRUNCATE: of a pair the longer text is cut, then both are, to equal parts,
                         as transformers' longest_first */
};

/* Turns a text into ids as the model's own tokenizer does. Any bytes will do: what is not UTF-8 counts as
   U+FFFD.
   `*count` is the number of tokens, also if `capacity` is less (MOTE_TOO_SMALL, or MOTE_OK with
   MOTE_TRUNCATE: `ids` holds those left). Unless null, `offsets`, [capacity], says which bytes each token
   came from, whole characters; those of added tokens are {0, 0}. MOTE_TEXT_TOO_LONG: a word exceeds the
   session's text_bytes. */
mote_status mote_tokenize(mote_session* session, const char* text, size_t bytes, uint32_t flags, int32_t* ids,
                          uint32_t capacity, uint32_t* count, mote_span* offsets, mote_error* error);

#define MOTE_NO_TEXT 255

/* The kind of a token in a text or a pair of texts. */
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

/* 1: the token is special: no text that is not meant to have it becomes it. */
int mote_token_is_special(const mote_model* model, int32_t id);

/* ---- Conversations ---- */

typedef enum mote_role { MOTE_ROLE_SYSTEM = 0, MOTE_ROLE_USER = 1, MOTE_ROLE_ASSISTANT = 2 } mote_role;

typedef struct mote_message {
  mote_role role;
  const char* text; /* [bytes], UTF-8, need not end in a zero */
  size_t bytes;
  uint32_t
      pictures;    /* of a user's message, before its text (mote_vision_input_info): image_id once for each */
  uint32_t unused; /* 0 */
  uint64_t reserved[4]; /* 0 */
} mote_message;

/* "chatml" and so on; null if the file holds no chat format. */
const char* mote_chat_format(const mote_model* model);

/* The chat template that the model's authors publish, for hosts that can run it (mote/host.h), as JSON:
   {"text": Jinja, "variables": {"bos_token": "<s>", ...}}; the core renders mote_chat_format.
   Zero-terminated, in the file; null: the file has none. */
const char* mote_chat_template(const mote_model* model);

/* Writes the text that stands for the conversation, by the model's chat format; with `answer` it ends where
   the model's answer begins. A system message must come first. Formats for models that know no conversations
   render the last user message on. `out` may be null to ask for `bytes` alone;
   MOTE_TOO_SMALL where `capacity` does not do. No zero is written. */
mote_status mote_chat_render(const mote_model* model, const mote_message* messages, uint32_t count,
                             int answer, char* out, size_t capacity, size_t* bytes, mote_error* error);

/* Renders a conversation into `text` and tokenizes it. Special tokens are those of the chat format alone:
   what a message says is text, even if it looks like one or is normalized to one. `*count` as in
   mote_tokenize. */
mote_status mote_chat_tokenize(mote_session* session, const mote_message* messages, uint32_t count,
                               int answer, char* text, size_t text_capacity, int32_t* ids, uint32_t capacity,
                               uint32_t* id_count, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
