// SPDX-License-Identifier: Apache-2.0
//
// Runs the model in flash: replays its self test, then generates from its first token, a few operations at a
// time. Prints the results; exits with 0, or with 1 after the sentence of what failed.
#include <stdint.h>

#include "console.h"
#include "mote/mote.h"
#include "startup.h"

extern "C" {
extern const unsigned char firmware_model[], firmware_model_end[];
}

namespace {

constexpr uint32_t kContext = 64;
constexpr uint32_t kTokens = 16;
constexpr uint32_t kOperationsPerStep = 4;  // then the loop could look after the rest of the device

alignas(8) unsigned char storage[MOTE_MODEL_BYTES];

mote_status open(const mote_model** opened, mote_error* error) {
  const size_t bytes = static_cast<size_t>(firmware_model_end - firmware_model);
  mote_model* model = nullptr;
  const mote_status status =
      mote_model_open(firmware_model, bytes, 0, storage, sizeof storage, &model, error);
  if (status != MOTE_OK) return status;
  *opened = model;
  mote_model_info info;
  mote_model_get_info(model, &info);
  print("model: ", info.name, ", ", info.architecture, ", ", static_cast<uint32_t>(bytes), " bytes\n");
  return MOTE_OK;
}

bool decodes(const mote_model* model) {
  mote_output_info output;
  mote_model_get_output(model, &output);
  return output.kind == MOTE_OUTPUT_NEXT_TOKEN;
}

mote_status start(const mote_model* model, mote_session** session, mote_error* error) {
  mote_session_options options = mote_session_options_default(model);
  if (options.context > kContext) options.context = kContext;
  options.chunk = decodes(model) ? 1 : options.context;  // an encoder reads a sequence whole
  options.logit_rows = 1;
  options.text_bytes = 0;  // ids only
  const uint32_t room = static_cast<uint32_t>(arena_end - arena_start);
  const mote_status status = mote_session_init(model, &options, arena_start, room, session, error);
  if (status != MOTE_OK) return status;
  const uint32_t taken = static_cast<uint32_t>(mote_session_bytes(model, &options));
  print("arena: ", taken, " of ", room, " bytes\n");
  return MOTE_OK;
}

mote_status self_test(mote_session* session, mote_error* error) {
  mote_self_test result = {};
  const mote_status status = mote_session_self_test(session, &result, error);
  if (status == MOTE_OK || status == MOTE_SELF_TEST_FAILED) {
    print("self test: ", result.equal_ids, " of ", result.ids, " ids, outputs differ by ",
          result.largest_difference, ", allowed is ", result.tolerance, "\n");
  }
  return status;
}

mote_status generate(const mote_model* model, mote_session* session, mote_error* error) {
  mote_model_info info;
  mote_model_get_info(model, &info);
  const int32_t first_id = info.bos_id >= 0 ? info.bos_id : 0;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = kTokens;
  mote_status status = mote_generation_begin(session, &first_id, 1, &generation, error);
  mote_event event = {};
  const char* before = "ids: ";
  while (status == MOTE_OK && event.finish == MOTE_FINISH_NONE) {
    status = mote_session_step(session, kOperationsPerStep, &event, error);
    if (status != MOTE_OK || event.has_token == 0) continue;
    print(before, event.id);
    before = ",";
  }
  print("\n");
  return status;
}

mote_status run(mote_error* error) {
  const mote_model* model = nullptr;
  mote_session* session = nullptr;
  mote_status status = open(&model, error);
  if (status == MOTE_OK) status = start(model, &session, error);
  if (status == MOTE_OK) status = self_test(session, error);
  if (status == MOTE_OK && decodes(model)) status = generate(model, session, error);
  return status;
}

}  // namespace

int main(void) {
  print("mote ", mote_version(), " on ", MOTE_BOARD, "\n");
  mote_error error = {};
  const mote_status status = run(&error);
  print("stack: ", stack_peak_bytes(), " of ", static_cast<uint32_t>(stack_top - stack_bottom), " bytes\n");
  if (status == MOTE_OK) return 0;
  print("failed: ", mote_status_name(status), ": ", error.text, "\n");
  return 1;
}
