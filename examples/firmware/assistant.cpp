// SPDX-License-Identifier: Apache-2.0
// Answers one command, on ESP-IDF, PlatformIO or Zephyr. The model and mote_config.h, whose options the
// session has, lie in the package's folder src, where `mote export-c` writes them: the package's README.md.
#include <stdio.h>
#include <string.h>

#include <mote_runtime.h>

#ifndef MOTE_CONFIG_CONTEXT
#error \
    "no mote_config.h: mote export-c commands.mote -o MOTE/src --section .rodata.firmware_model, MOTE being this library's folder"
#endif

extern "C" {
extern const unsigned char firmware_model[];
extern const unsigned long firmware_model_bytes;
}

static uint64_t storage[MOTE_MODEL_BYTES / 8];
alignas(64) static unsigned char arena[MOTE_CONFIG_ARENA_BYTES];

static int print_token(void* model, int32_t id) {
  size_t bytes = 0;
  const char* text = mote_token_text(static_cast<const mote_model*>(model), id, &bytes);
  if (text != nullptr) printf("%.*s", static_cast<int>(bytes), text);
  return 0;
}

static mote_status answer(const char* command, mote_error* error) {
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  mote_status status =
      mote_model_open(firmware_model, firmware_model_bytes, 0, storage, sizeof storage, &model, error);
  if (status != MOTE_OK) return status;
  mote_session_options options = mote_session_options_default(model);
  options.context = MOTE_CONFIG_CONTEXT, options.chunk = MOTE_CONFIG_CHUNK, options.logit_rows = 1;
  options.text_bytes = MOTE_CONFIG_TEXT_BYTES, options.kv_dtype = static_cast<mote_kv_dtype>(MOTE_CONFIG_KV);
  status = mote_session_init(model, &options, arena, sizeof arena, &session, error);
  if (status != MOTE_OK) return status;
  const mote_message message = {MOTE_ROLE_USER, command, strlen(command), 0, 0, {}};
  char text[192];
  int32_t ids[MOTE_CONFIG_CONTEXT];
  uint32_t count = 0;
  status =
      mote_chat_tokenize(session, &message, 1, 1, text, sizeof text, ids, MOTE_CONFIG_CONTEXT, &count, error);
  if (status != MOTE_OK) return status;
  const mote_generation generation = mote_generation_default();
  return mote_generate(session, ids, count, &generation, print_token, model, nullptr, error);
}

#ifdef ESP_PLATFORM
extern "C" void app_main() {
#else
int main() {
#endif
  mote_error error = {};
  if (answer("turn the kitchen lights to 30 percent", &error) != MOTE_OK) printf("%s\n", error.text);
}
