/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the words in a file of sound: host_transcribe MODEL.mote SOUND */
#include <stdio.h>

#include "mote/host.h"

/* Says why a call failed; returns 1 then. */
static int failed(mote_host_result* result) {
  const int wrong = mote_host_status(result) != MOTE_OK;
  if (wrong) fprintf(stderr, "%s\n", mote_host_sentence(result));
  mote_host_free(result);
  return wrong;
}

static void print_segment(void* user, const char* text, size_t bytes, int32_t id) {
  (void)user, (void)id;
  printf("%.*s\n", (int)bytes, text);
}

int main(int count, char** arguments) {
  mote_host* model;
  mote_host_input sound = {0};
  const mote_host_calls calls = {.text = print_segment};
  int wrong;
  if (count != 3 || failed(mote_host_open(arguments[1], NULL, &model))) return 1;
  sound.path = arguments[2];
  wrong = failed(mote_host_transcribe(model, &sound, NULL, &calls));
  mote_host_close(model);
  return wrong;
}
