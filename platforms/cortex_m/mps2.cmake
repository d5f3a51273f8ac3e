# SPDX-License-Identifier: Apache-2.0
# What the boards MPS2 with images for processors without TrustZone have in common.
set(MOTE_BOARD_FLASH_ORIGIN 0x00000000)  # ZBT SSRAM 1, which stands for flash
set(MOTE_BOARD_FLASH_BYTES 4M)
set(MOTE_BOARD_RAM_ORIGIN 0x20000000)  # ZBT SSRAM 2 and 3
set(MOTE_BOARD_RAM_BYTES 4M)
set(MOTE_BOARD_CONSOLE cmsdk_uart)
set(MOTE_BOARD_UART 0x40004000)
set(MOTE_BOARD_EMULATED ON)  # semihosting is answered although no debugger is attached
