// SPDX-License-Identifier: Apache-2.0
// A line on the serial port is a command; the model's answer is printed as it comes. The model and mote_config.h, whose
// options the session has, lie in the library's folder src, where `mote export-c` writes them: the library's README.md.
#include <mote_runtime.h>

#ifndef MOTE_CONFIG_CONTEXT
#error "no mote_config.h: mote export-c commands.mote -o MOTE/src --section .rodata.firmware_model, MOTE being this library's folder"
#endif

extern "C" {
extern const unsigned char firmware_model[];
extern const unsigned long firmware_model_bytes;
}

static uint64_t storage[MOTE_MODEL_BYTES / 8];
alignas(64) static unsigned char arena[MOTE_CONFIG_ARENA_BYTES];
static mote_model* model;
static mote_session* session;
static mote_error error;
static mote_detokenizer text;
static char line[128];
static size_t length;
static int32_t prompt[MOTE_CONFIG_CONTEXT];
static bool answering;

static void answer() {
  const mote_message message = {MOTE_ROLE_USER, line, length};
  const mote_generation generation = mote_generation_default();
  char rendered[192];
  uint32_t count = 0;
  mote_session_truncate(session, 0, 0, &error);
  answering = mote_chat_tokenize(session, &message, 1, 1, rendered, sizeof rendered, prompt, MOTE_CONFIG_CONTEXT, &count, &error) == MOTE_OK &&
              mote_generation_begin(session, prompt, count, &generation, &error) == MOTE_OK &&
              mote_detokenizer_start(model, MOTE_SKIP_SPECIAL, &text, &error) == MOTE_OK;
  if (!answering) Serial.println(error.text);
}

void setup() {
  Serial.begin(115200);
  if (mote_model_open(firmware_model, firmware_model_bytes, 0, storage, sizeof storage, &model, &error) == MOTE_OK) {
    mote_session_options options = mote_session_options_default(model);
    options.context = MOTE_CONFIG_CONTEXT, options.chunk = MOTE_CONFIG_CHUNK, options.logit_rows = 1;
    options.text_bytes = MOTE_CONFIG_TEXT_BYTES, options.kv_dtype = static_cast<mote_kv_dtype>(MOTE_CONFIG_KV);
    mote_session_init(model, &options, arena, sizeof arena, &session, &error);
  }
  if (session == nullptr) Serial.println(error.text);
}

void loop() {
  if (session == nullptr) return;
  if (!answering) {
    const int byte = Serial.read();
    if (byte == '\n') answer(), length = 0;
    else if (byte >= 0 && length < sizeof line) line[length++] = static_cast<char>(byte);
    return;
  }
  mote_event event = {};
  char piece[64];
  size_t bytes = 0;
  answering = mote_session_step(session, 1, &event, &error) == MOTE_OK && event.finish == MOTE_FINISH_NONE;
  if (event.has_token != 0 && mote_detokenizer_next(model, &text, event.id, piece, sizeof piece, &bytes, &error) == MOTE_OK)
    Serial.write(piece, bytes);
  if (!answering) Serial.println("");
}
