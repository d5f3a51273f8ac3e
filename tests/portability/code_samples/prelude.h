/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what code samples of headers and documents take for granted: a file in memory, an open model and
 * its session, ids, callbacks, a place for an error. */
#undef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/attention.h"
#include "mote/beams.h"
#include "mote/convert.h"
#include "mote/grammar.h"
#include "mote/host.h"
#include "mote/mote.h"
#include "mote/pictures.h"
#include "mote/posix.h"
#include "mote/sampler.h"
#include "mote/sound.h"
#include "mote/speculate.h"
#include "mote/speech_activity.h"
#include "mote/task.h"
#include "mote/voice.h"
#include "mote/xnnpack.h"

extern const void* file;
extern size_t bytes, arena_bytes, capacity;
extern void* arena;
extern mote_model* model;
extern mote_session* session;
extern mote_session_options options;
extern const mote_backend* backend;
extern const int32_t* ids;
extern uint32_t n, threads;
extern float* samples;
extern void* user;
extern mote_error error;
int report(const char* text);
void wake_up(void);
int on_token(void* user, int32_t id);
