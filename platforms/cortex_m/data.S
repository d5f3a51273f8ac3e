// SPDX-License-Identifier: Apache-2.0
// The input that an image reads or hears, in flash; nothing where no file is given.
  .section .model, "a"
  .balign 4
  .global firmware_data
  .global firmware_data_end
firmware_data:
#if defined(MOTE_IMAGE_DATA)
  .incbin MOTE_IMAGE_DATA
#endif
firmware_data_end:
