# SPDX-License-Identifier: Apache-2.0
# Arm's MPS2 board with the image AN386: a Cortex-M4F. `qemu-system-arm -M mps2-an386` emulates it.
set(MOTE_BOARD_PROCESSOR cortex-m4)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
set(MOTE_BOARD_FLASH_ORIGIN 0x00000000)  # ZBT SSRAM 1, which stands for flash
set(MOTE_BOARD_FLASH_BYTES 4M)
set(MOTE_BOARD_RAM_ORIGIN 0x20000000)  # ZBT SSRAM 2 and 3
set(MOTE_BOARD_RAM_BYTES 4M)
set(MOTE_BOARD_CONSOLE cmsdk_uart)
set(MOTE_BOARD_UART 0x40004000)
set(MOTE_BOARD_CLOCK_HZ 25000000)
