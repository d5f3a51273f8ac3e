// SPDX-License-Identifier: Apache-2.0
//
// What firmware for one model holds. MOTE_MODEL_CONFIG names the header that `mote export-c` wrote for the model; it
// defines for each kernel and operation whether it is part of the build, and what the tokenizer needs. Without it all
// is. A model that needs more is refused when it is opened or its session is made.
#pragma once

#ifdef MOTE_MODEL_CONFIG
#include MOTE_MODEL_CONFIG
// Each is its text or nothing.
#define MOTE_KERNEL_OF_MODEL(function, ...) MOTE_KERNEL_##function(__VA_ARGS__)
#define MOTE_OP_OF_MODEL(op, ...) MOTE_OP_##op(__VA_ARGS__)
#else
#define MOTE_KERNEL_OF_MODEL(function, ...) __VA_ARGS__
#define MOTE_OP_OF_MODEL(op, ...) __VA_ARGS__
#define MOTE_TEXT_BPE 1
#define MOTE_TEXT_WORDPIECE 1
#define MOTE_TEXT_UNIGRAM 1
#define MOTE_TEXT_NORMALIZERS 1
#endif
