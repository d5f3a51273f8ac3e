/* SPDX-License-Identifier: Apache-2.0 */
/* Prints mote's version. Bytes that are no model have to be refused, with a reason. */
#include <stdint.h>
#include <stdio.h>

#include "mote/mote.h"

int main(void) {
  static _Alignas(64) uint64_t file[8];
  static uint64_t storage[MOTE_MODEL_BYTES / 8];
  mote_model* model = NULL;
  mote_error error = {0};
  const mote_status status = mote_model_open(file, sizeof file, 0, storage, sizeof storage, &model, &error);
  printf("mote %s: %s\n", MOTE_VERSION, error.text);
  return status == MOTE_OK || error.text[0] == '\0';
}
