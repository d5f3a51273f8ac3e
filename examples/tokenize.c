/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a text into the model's tokens, says where each comes from, and puts the text together again.
 *
 *   tokenize MODEL.mote "hello the end"
 */
#include "common.h"

#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) give_up("usage", "tokenize MODEL.mote TEXT");
  mote_model* model = open_model(argv[1]);
  const char* text = argv[2];
  const uint32_t bytes = (uint32_t)strlen(text);
  mote_error error;

  mote_session_options options = mote_session_options_default(model);
  options.context = 1;             /* nothing is computed */
  options.text_bytes = bytes + 64; /* of the longest word; 64 for what normalization may add */
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);

  /* Asked with room for none, mote_tokenize says how many there are. */
  uint32_t count = 0;
  const mote_status asked = mote_tokenize(session, text, bytes, 0, NULL, 0, &count, NULL, &error);
  if (asked != MOTE_TOO_SMALL) check(asked, &error);
  if (count == 0) give_up("tokenize", "the text is empty");
  int32_t* ids = allocate(count * sizeof *ids);
  mote_span* spans = allocate(count * sizeof *spans);
  check(mote_tokenize(session, text, bytes, 0, ids, count, &count, spans, &error), &error);
  for (uint32_t i = 0; i < count; ++i) {
    printf("%d '%.*s'\n", (int)ids[i], (int)(spans[i].end - spans[i].begin), text + spans[i].begin);
  }

  mote_detokenizer detokenizer;
  const size_t room = mote_detokenizer_room(model);
  char* part = allocate(room);
  size_t written = 0;
  check(mote_detokenizer_start(model, 0, &detokenizer, &error), &error);
  for (uint32_t i = 0; i < count; ++i) {
    check(mote_detokenizer_next(model, &detokenizer, ids[i], part, room, &written, &error), &error);
    fwrite(part, 1, written, stdout);
  }
  check(mote_detokenizer_finish(model, &detokenizer, part, room, &written, &error), &error);
  fwrite(part, 1, written, stdout);
  printf("\n");

  free(part);
  free(spans);
  free(ids);
  free(arena);
  return 0;
}
