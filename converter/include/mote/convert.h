/* SPDX-License-Identifier: Apache-2.0 */
/* Models as their authors publish them to .mote files: what `mote convert` does, for programs.
 *
 *   mote_convert_result* done = mote_convert("all-MiniLM-L6-v2", "minilm.mote", "{\"type\": \"q8\"}", NULL);
 *   if (mote_convert_status(done) != MOTE_OK) puts(mote_convert_sentence(done));
 *   mote_convert_free(done);
 *
 * Options are a JSON object, or null for none: the long options of `mote convert` without their dashes. An
 * unknown key and a value that does not fit are failures that name the key. Functions may be called from any
 * thread.
 */
#ifndef MOTE_CONVERT_H_
#define MOTE_CONVERT_H_

#include <stdint.h>

#include "mote/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_convert_result mote_convert_result;

/* Functions that tell a caller of a conversion, on the thread that called it. Each may be null. */
typedef struct mote_convert_calls {
  void* user;
  /* 1: the conversion ends with MOTE_CANCELLED and leaves nothing. Asked whenever progress is told. */
  int (*stop)(void* user);
  /* Tells the stage that the conversion is at, zero-terminated, and the part of it that is done, 0 to 1. */
  void (*progress)(void* user, const char* stage, double part);
  uint64_t reserved[4];
} mote_convert_calls;

/* Converts a directory or a file to `output`, which is replaced once it is whole; a failure leaves it as it
   was. Options: type, head-type, calibrate, lora (a text or a list), chat-format, thinking ("on", "off"),
   pooling, normalize, tower, picture-size and any-picture-size ("WIDTHxHEIGHT"), language (of an adapter of
   MMS, "fra"), ignore-key (a text or a list), no-tokenizer, small-tables, long-context. */
mote_convert_result* mote_convert(const char* source, const char* output, const char* options,
                                  const mote_convert_calls* calls);

/* {"architectures": {kind: [name, ...]}, "types", "head_types", "chat_formats"}: what options and sources may
 * name. */
mote_convert_result* mote_convert_list(void);
/* Returns the types that a tensor may have, or a head unless `of_heads` is 0, with commas between, for
   people. Zero-terminated, and there for good. */
const char* mote_convert_type_names(int of_heads);

mote_status mote_convert_status(const mote_convert_result* result);
/* Why the call failed, zero-terminated; "" where it did not. */
const char* mote_convert_sentence(const mote_convert_result* result);
/* {"name", "architecture", "type", "file_bytes", "tokens", "chat_format", "keeps_chat_template",
   "template_remark": why the template became no format or not all of it, "notes": [sentence, ...], "memory":
   [{"context", "arena_bytes"}, ...], "tensors": [{"name", "type", "rows", "columns", "bytes", "bits",
   "error"}, ...]}, UTF-8, zero-terminated; "null" where it failed. */
const char* mote_convert_json(const mote_convert_result* result);
/* Null does nothing. */
void mote_convert_free(mote_convert_result* result);

#ifdef __cplusplus
}
#endif
#endif
