/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of standard input, nearest to a text first: host_search MODEL.mote TEXT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/host.h"

enum { kMostLines = 10000 };

int main(int count, char** arguments) {
  static mote_host_input texts[1 + kMostLines];
  static char line[65536];
  mote_host* model;
  mote_host_result* result;
  size_t lines = 0;
  const char* at;
  if (count != 3) return 2;
  result = mote_host_open(arguments[1], "{\"sessions\": 1}", &model);
  texts[0].text = arguments[2];
  while (mote_host_status(result) == MOTE_OK && lines < kMostLines && fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0') texts[++lines].text = strcpy(malloc(strlen(line) + 1), line);
  }
  if (mote_host_status(result) == MOTE_OK) {
    mote_host_free(result);
    result = mote_host_rank(model, texts, 1 + lines, NULL, NULL);
  }
  if (mote_host_status(result) != MOTE_OK) return fprintf(stderr, "%s\n", mote_host_sentence(result)), 1;
  for (at = mote_host_json(result); (at = strstr(at, "\"index\":")) != NULL;) { /* [{"index": 0, "score": 0.5}, ...] */
    const size_t index = strtoul(at + strlen("\"index\":"), NULL, 10);
    at = strstr(at, "\"score\":") + strlen("\"score\":");
    printf("%.4f  %s\n", strtod(at, NULL), texts[1 + index].text);
  }
  mote_host_free(result);
  mote_host_close(model);
  return 0;
}
