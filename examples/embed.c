/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks the lines of standard input by how near their meaning is to a query's.
 *
 *   embed MODEL.mote "who repairs a leaking pipe?" <notes.txt
 */
#include "common.h"

#include <math.h>
#include <string.h>

enum { MAX_LINES = 1000, LINE_BYTES = 512 };

typedef struct note {
  char text[LINE_BYTES];
  float score;
} note;

static float cosine(const float* a, const float* b, uint32_t width) {
  float product = 0, a_square = 0, b_square = 0;
  for (uint32_t i = 0; i < width; ++i) {
    product += a[i] * b[i];
    a_square += a[i] * a[i];
    b_square += b[i] * b[i];
  }
  return product / sqrtf(a_square * b_square);
}

static int by_score(const void* a, const void* b) {
  const float difference = ((const note*)b)->score - ((const note*)a)->score;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char** argv) {
  if (argc != 3) give_up("usage", "embed MODEL.mote QUERY <LINES");
  mote_model* model = open_model(argv[1]);
  const mote_output_info output = output_of(model);
  mote_error error;

  mote_session_options options =
      mote_session_options_default(model); /* a text at a time, of up to its context */
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);
  float* query = allocate(output.width * sizeof *query);
  float* vector = allocate(output.width * sizeof *vector);
  note* notes = allocate(MAX_LINES * sizeof *notes);

  /* Refused with a reason if the model makes no vectors of texts. */
  check(mote_embed(session, argv[2], strlen(argv[2]), MOTE_TRUNCATE, query, output.width, &error), &error);
  size_t count = 0;
  while (count < MAX_LINES && fgets(notes[count].text, LINE_BYTES, stdin) != NULL) {
    note* line = &notes[count];
    line->text[strcspn(line->text, "\n")] = '\0';
    if (line->text[0] == '\0') continue;
    check(mote_embed(session, line->text, strlen(line->text), MOTE_TRUNCATE, vector, output.width, &error),
          &error);
    line->score = cosine(query, vector, output.width);
    ++count;
  }
  qsort(notes, count, sizeof *notes, by_score);
  for (size_t i = 0; i < count; ++i) printf("%.4f %s\n", (double)notes[i].score, notes[i].text);

  free(notes);
  free(vector);
  free(query);
  free(arena);
  return 0;
}
