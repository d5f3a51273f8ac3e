/* SPDX-License-Identifier: Apache-2.0 */
/* One loop that does everything, as in firmware: a bounded part of the model, then whatever else is due. No
 * heap, no threads, no operating system are needed for it; only reading the model from a file is POSIX here.
 *
 *   bounded_step MODEL.mote
 */
#include "common.h"

enum { ARENA_BYTES = 192 * 1024, CONTEXT = 64, OPERATIONS = 4, TOKENS = 16 };

/* Firmware puts this into SRAM. `mote inspect MODEL.mote` prints how much a context takes. */
static uint64_t arena[ARENA_BYTES / 8 + MOTE_ALIGNMENT / 8];

/* Where firmware would read sensors, feed the watchdog and blink. */
static void do_other_work(unsigned* turns) { ++*turns; }

int main(int argc, char** argv) {
  if (argc != 2) give_up("usage", "bounded_step MODEL.mote");
  mote_model* model = open_model(argv[1]); /* firmware gives mote_model_open an address in flash */
  mote_error error;

  mote_session_options options = mote_session_options_default(model);
  options.context = CONTEXT;
  options.chunk = 8;      /* tokens of the prompt at once: less takes less memory, and a step less time */
  options.text_bytes = 0; /* ids only */
  uint8_t* aligned = (uint8_t*)arena + (MOTE_ALIGNMENT - (uintptr_t)arena % MOTE_ALIGNMENT) % MOTE_ALIGNMENT;
  mote_session* session = NULL;
  check(mote_session_init(model, &options, aligned, ARENA_BYTES, &session, &error), &error);

  static const int32_t prompt[] = {1, 5, 7}; /* stays where it is until the first token has come */
  mote_generation generation = mote_generation_default();
  generation.max_tokens = TOKENS;
  check(mote_generation_begin(session, prompt, 3, &generation, &error), &error);

  unsigned turns = 0;
  mote_event event = {0};
  while (event.finish == MOTE_FINISH_NONE) {
    check(mote_session_step(session, OPERATIONS, &event, &error), &error);
    if (event.has_token) printf("%d ", (int)event.id);
    do_other_work(&turns);
  }
  printf("\n%u turns of the loop\n", turns);
  return 0;
}
