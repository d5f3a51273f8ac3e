// SPDX-License-Identifier: Apache-2.0
// The model, read where it lies in flash.
  .section .model, "a"
  .balign 64
  .global firmware_model
  .global firmware_model_end
firmware_model:
  .incbin MOTE_FIRMWARE_MODEL
firmware_model_end:

#ifdef MOTE_FIRMWARE_GRAMMAR
  .balign 64
  .global firmware_grammar
  .global firmware_grammar_end
firmware_grammar:
  .incbin MOTE_FIRMWARE_GRAMMAR
firmware_grammar_end:
  .balign 64
  .global firmware_vocabulary
  .global firmware_vocabulary_end
firmware_vocabulary:
#ifdef MOTE_FIRMWARE_VOCABULARY
  .incbin MOTE_FIRMWARE_VOCABULARY
#endif
firmware_vocabulary_end:
#endif
