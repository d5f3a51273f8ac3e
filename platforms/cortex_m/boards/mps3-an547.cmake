# SPDX-License-Identifier: Apache-2.0
# Arm's MPS3 board with the image AN547: a Cortex-M55 with Helium. It starts in the secure state and stays there.
# `qemu-system-arm -M mps3-an547` emulates it.
set(MOTE_BOARD_PROCESSOR cortex-m55)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m55 -mthumb -mfloat-abi=hard -mfpu=auto)
set(MOTE_BOARD_FLASH_ORIGIN 0x10000000)  # ITCM by its secure address
set(MOTE_BOARD_FLASH_BYTES 512K)
set(MOTE_BOARD_MODEL_ORIGIN 0x11000000)  # the board's SRAM, which stands for a second flash
set(MOTE_BOARD_MODEL_BYTES 2M)
set(MOTE_BOARD_RAM_ORIGIN 0x31000000)  # the subsystem's SRAM
set(MOTE_BOARD_RAM_BYTES 4M)
set(MOTE_BOARD_CONSOLE cmsdk_uart)
set(MOTE_BOARD_UART 0x59303000)
set(MOTE_BOARD_CLOCK_HZ 32000000)
set(MOTE_BOARD_EMULATED ON)
