// SPDX-License-Identifier: Apache-2.0
//
// The parts that the images of this folder share: the model in flash, a session in the arena, a heartbeat.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "console.h"
#include "mote/mote.h"
#include "startup.h"

extern "C" {
extern const unsigned char firmware_model[], firmware_model_end[];
}

namespace image {

alignas(8) static unsigned char storage[MOTE_MODEL_BYTES];
static mote_error error;

/// The device's own work: it is due once a turn of the main loop.
struct Heartbeat {
  uint32_t beats, last, longest;
  uint32_t busy_ticks;  // of the turns that worked but the last, modulo 2^32

  /// `busy`: the turn that ends worked for the model, and so will the next.
  void beat(bool busy) {
    const uint32_t now = mote_clock::now();
    const uint32_t gap = mote_clock::between(last, now);
    if (beats != 0 && gap > longest) longest = gap;
    if (busy) busy_ticks += gap;
    last = now;
    ++beats;
    if (board_turn != nullptr) board_turn();
  }
};

/// Fails what is being done, not the device.
static inline void report(const char* what, mote_status status) {
  print(what, ": ", mote_status_name(status), ": ", error.text, "\n");
}

static inline mote_status refuse(const char* what) {
  strncpy(error.text, what, sizeof error.text - 1);
  return MOTE_INVALID_ARGUMENT;
}

[[gnu::noinline]] static inline mote_status open(const mote_model** opened) {
  const size_t bytes = static_cast<size_t>(firmware_model_end - firmware_model);
  mote_model* model = nullptr;
  const mote_status status =
      mote_model_open(firmware_model, bytes, MOTE_OPEN_CHECK_HASHES, storage, sizeof storage, &model, &error);
  *opened = model;
  return status;
}

static inline mote_status start(const mote_model* model, const mote_session_options& options,
                                mote_session** session) {
  const uint32_t room = static_cast<uint32_t>(arena_end - arena_start);
  const mote_status status = mote_session_init(model, &options, arena_start, room, session, &error);
  if (status != MOTE_OK) return status;
  print("arena: ", static_cast<uint32_t>(mote_session_bytes(model, &options)), " of ", room, " bytes\n");
  return MOTE_OK;
}

/// A session of an encoder that is given `rows` rows of numbers at once.
[[gnu::noinline]] static inline mote_status start_encoder(const mote_model* model, uint32_t rows,
                                                          mote_session** session) {
  mote_session_options options = mote_session_options_default(model);
  options.context = options.chunk = rows;
  options.batch = 1;
  options.logit_rows = 1;
  options.text_bytes = 0;
  return start(model, options, session);
}

/// The label of the largest logit of the session's outputs.
static inline uint32_t likeliest(mote_session* session, uint32_t labels) {
  const float* logits = mote_session_output(session, 0);
  uint32_t best = 0;
  for (uint32_t i = 1; i < labels; ++i) best = logits[i] > logits[best] ? i : best;
  return best;
}

static inline void print_stack() {
  print("stack ", stack_peak_bytes(), " of ", static_cast<uint32_t>(stack_top - stack_bottom), " bytes\n");
}

}  // namespace image
