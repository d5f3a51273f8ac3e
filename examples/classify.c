/* SPDX-License-Identifier: Apache-2.0 */
/* Says how likely each of a classifier's labels is for a text.
 *
 *   classify MODEL.mote "what a waste of two hours"
 */
#include "common.h"

#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) give_up("usage", "classify MODEL.mote TEXT");
  mote_model* model = open_model(argv[1]);
  const mote_output_info output = output_of(model);
  mote_error error;

  mote_session_options options = mote_session_options_default(model);
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);
  float* probabilities = allocate(output.width * sizeof *probabilities);
  check(mote_classify(session, argv[2], strlen(argv[2]), 0, probabilities, output.width, &error), &error);
  for (uint32_t i = 0; i < output.width; ++i) {
    const char* label = mote_model_label(model, i);
    printf("%.4f %s\n", (double)probabilities[i], label != NULL ? label : "");
  }
  free(probabilities);
  free(arena);
  return 0;
}
