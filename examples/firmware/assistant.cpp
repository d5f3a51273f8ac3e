// SPDX-License-Identifier: Apache-2.0
// Answers one command, on ESP-IDF, PlatformIO or Zephyr. model.c is written by
// `mote export-c commands.mote -o DIR` and compiled with this file.
#include <stdio.h>
#include <string.h>

#include <mote_runtime.h>

extern "C" {
extern const unsigned char firmware_model[];
extern const unsigned long firmware_model_bytes;
}

static uint64_t storage[MOTE_MODEL_BYTES / 8];
alignas(64) static unsigned char arena[120 * 1024];

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
  options.context = 96, options.chunk = 4, options.logit_rows = 1, options.text_bytes = 64;
  options.kv_dtype = MOTE_KV_I8;
  status = mote_session_init(model, &options, arena, sizeof arena, &session, error);
  if (status != MOTE_OK) return status;
  const mote_message message = {MOTE_ROLE_USER, command, strlen(command), 0, 0, {}};
  char text[192];
  int32_t ids[96];
  uint32_t count = 0;
  status = mote_chat_tokenize(session, &message, 1, 1, text, sizeof text, ids, 96, &count, error);
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
