# SPDX-License-Identifier: Apache-2.0
# Arm's MPS2 board with the image AN505: a Cortex-M33 with DSP instructions, as in an RP2350. It starts in the secure
# state and stays there. `qemu-system-arm -M mps2-an505` emulates it.
set(MOTE_BOARD_PROCESSOR cortex-m33)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16)
set(MOTE_BOARD_FLASH_ORIGIN 0x10000000)  # SSRAM 1 by its secure address, which stands for flash
set(MOTE_BOARD_FLASH_BYTES 4M)
set(MOTE_BOARD_RAM_ORIGIN 0x38000000)  # SSRAM 2
set(MOTE_BOARD_RAM_BYTES 2M)
set(MOTE_BOARD_CONSOLE cmsdk_uart)
set(MOTE_BOARD_UART 0x50200000)
set(MOTE_BOARD_CLOCK_HZ 20000000)
set(MOTE_BOARD_EMULATED ON)
