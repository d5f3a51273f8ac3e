// SPDX-License-Identifier: Apache-2.0
// The IMAGE_DEF block by which the boot ROM of an RP2350 knows an executable of its secure Arm cores (RP2350 Datasheet,
// 5.9.5.1). It lies in the first 4 KiB of flash, behind the vectors.
  .section .image_def, "a"
  .balign 4
  .word 0xffffded3  // a block begins
  .word 0x10210142  // IMAGE_TYPE, of one word: executable, secure, Arm, RP2350
  .word 0x000001ff  // the last item, behind one word of items
  .word 0           // to the next block: this is the only one
  .word 0xab123579  // the block ends
