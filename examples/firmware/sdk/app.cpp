// SPDX-License-Identifier: Apache-2.0
//
// A program of an SDK that opens a model at an address of flash and does one bounded step a turn of its loop.
// With MOTE_FIRMWARE_CONFIG the options are those of mote_config.h.
#include <mote/mote.h>
#include <stdint.h>

#ifdef MOTE_MODEL_CONFIG
#include MOTE_MODEL_CONFIG
#else
#define MOTE_CONFIG_CONTEXT 96
#define MOTE_CONFIG_CHUNK 4
#define MOTE_CONFIG_TEXT_BYTES 64
#define MOTE_CONFIG_KV MOTE_KV_I8
#define MOTE_CONFIG_ARENA_BYTES (128 * 1024)
#endif

namespace {

constexpr uintptr_t kModel = 0x10100000;  // a partition of the flash, of kModelBytes
constexpr size_t kModelBytes = 1024 * 1024;

alignas(8) unsigned char storage[MOTE_MODEL_BYTES];
alignas(64) unsigned char arena[MOTE_CONFIG_ARENA_BYTES];
mote_error error;

mote_status start(mote_model** model, mote_session** session) {
  // The whole file is verified and hashed: a partition that is empty, cut off or damaged is refused.
  const mote_status status = mote_model_open(reinterpret_cast<const void*>(kModel), kModelBytes,
                                             MOTE_OPEN_CHECK_HASHES, storage, sizeof storage, model, &error);
  if (status != MOTE_OK) return status;
  mote_session_options options = mote_session_options_default(*model);
  options.context = MOTE_CONFIG_CONTEXT, options.chunk = MOTE_CONFIG_CHUNK, options.logit_rows = 1;
  options.text_bytes = MOTE_CONFIG_TEXT_BYTES, options.kv_dtype = static_cast<mote_kv_dtype>(MOTE_CONFIG_KV);
  return mote_session_init(*model, &options, arena, sizeof arena, session, &error);
}

}  // namespace

int main() {
  mote_model* model = nullptr;
  mote_session* session = nullptr;
  if (start(&model, &session) != MOTE_OK) return 1;
  mote_model_info info;
  mote_model_get_info(model, &info);
  const int32_t first = info.bos_id >= 0 ? info.bos_id : 0;
  const mote_generation generation = mote_generation_default();
  if (mote_generation_begin(session, &first, 1, &generation, &error) != MOTE_OK) return 1;
  mote_event event = {};
  while (event.finish == MOTE_FINISH_NONE) {
    if (mote_session_step(session, 1, &event, &error) != MOTE_OK) return 1;
    // The rest of the device's work: a watchdog, USB, sensors.
  }
  return 0;
}
