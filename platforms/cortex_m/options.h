// SPDX-License-Identifier: Apache-2.0
//
// The options of the session that the assistant makes: those of the mote_config.h that `mote export-c` wrote,
// which the build names in MOTE_MODEL_CONFIG, else export-c's defaults.
#pragma once

#ifdef MOTE_MODEL_CONFIG
#include MOTE_MODEL_CONFIG
#else
#define MOTE_CONFIG_CONTEXT 96     // positions
#define MOTE_CONFIG_CHUNK 4        // prompt tokens computed at once
#define MOTE_CONFIG_TEXT_BYTES 64  // the longest word
#define MOTE_CONFIG_KV MOTE_KV_I8
#endif
