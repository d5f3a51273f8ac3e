// SPDX-License-Identifier: Apache-2.0
// The model, read where it lies in flash.
  .section .model, "a"
  .balign 64
  .global firmware_model
  .global firmware_model_end
firmware_model:
  .incbin MOTE_FIRMWARE_MODEL
firmware_model_end:
