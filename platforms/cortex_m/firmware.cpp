// SPDX-License-Identifier: Apache-2.0
//
// Runs the model in flash: replays its self test, then generates from its first token, an operation at a
// time. The results are left in `firmware_report` for a debugger.
#include <stdint.h>

#include "mote/mote.h"

extern "C" {
extern const unsigned char firmware_model[];
extern const unsigned char firmware_model_end[];
int main(void);

struct FirmwareReport {
  mote_status status;
  mote_error error;
  mote_self_test self_test;
  uint32_t tokens;
  int32_t last_id;
};
FirmwareReport firmware_report;
}

namespace {

constexpr uint32_t kTokens = 16;
constexpr uint32_t kOperationsPerStep = 4;  // then the loop could look after the rest of the device

alignas(8) unsigned char storage[1024];
__attribute__((section(".arena"), aligned(MOTE_ALIGNMENT))) unsigned char arena[96 * 1024];

mote_status generate(mote_session* session, int32_t first_id, FirmwareReport* report) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = kTokens;
  mote_status status = mote_generation_begin(session, &first_id, 1, &generation, &report->error);
  mote_event event = {};
  while (status == MOTE_OK && event.finish == MOTE_FINISH_NONE) {
    status = mote_session_step(session, kOperationsPerStep, &event, &report->error);
    if (status == MOTE_OK && event.has_token) {
      report->last_id = event.id;
      ++report->tokens;
    }
  }
  return status;
}

mote_status run(FirmwareReport* report) {
  mote_model* model = nullptr;
  mote_status status =
      mote_model_open(firmware_model, static_cast<size_t>(firmware_model_end - firmware_model), 0, storage,
                      sizeof storage, &model, &report->error);
  if (status != MOTE_OK) return status;

  mote_session_options options = mote_session_options_default(model);
  mote_model_info info;
  mote_model_get_info(model, &info);
  options.context = info.context < 64 ? info.context : 64;
  options.chunk = 1;
  mote_session* session = nullptr;
  status = mote_session_init(model, &options, arena, sizeof arena, &session, &report->error);
  if (status != MOTE_OK) return status;

  status = mote_session_self_test(session, &report->self_test, &report->error);
  if (status != MOTE_OK) return status;
  return generate(session, info.bos_id >= 0 ? info.bos_id : 0, report);
}

}  // namespace

int main(void) {
  firmware_report.status = run(&firmware_report);
  return 0;
}
