/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation, a line a turn: host_chat MODEL.mote */
#include <stdio.h>
#include <string.h>

#include "mote/host.h"

/* Says why a call failed; returns 1 then. */
static int failed(mote_host_result* result) {
  const int wrong = mote_host_status(result) != MOTE_OK;
  if (wrong) fprintf(stderr, "%s\n", mote_host_sentence(result));
  mote_host_free(result);
  return wrong;
}

static void print_part(void* user, const char* text, size_t bytes, int32_t id) {
  (void)user, (void)id;
  fwrite(text, 1, bytes, stdout);
  fflush(stdout);
}

int main(int count, char** arguments) {
  mote_host* model;
  mote_host_chat* chat;
  mote_host_input message = {0};
  const mote_host_calls calls = {.text = print_part};
  char line[4096];
  if (count != 2 || failed(mote_host_open(arguments[1], NULL, &model))) return 1;
  if (failed(mote_host_chat_begin(model, NULL, &chat))) return 1;
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    message.text = line;
    if (failed(mote_host_chat_say(chat, &message, 1, &calls))) return 1;
    printf("\n");
  }
  mote_host_chat_end(chat);
  mote_host_close(model);
  return 0;
}
