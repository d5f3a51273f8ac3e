# SPDX-License-Identifier: Apache-2.0
# Raspberry Pi Pico 2: an RP2350, whose Cortex-M33 runs at 150 MHz. The console is UART0 at pins GP0 and GP1, 115200 baud.
# Compiled and its UF2 checked; not run on a board yet. Use it with the preset cortex-m33: -DMOTE_BOARD=pico2.
set(MOTE_BOARD_PROCESSOR cortex-m33)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16)
set(MOTE_BOARD_FLASH_ORIGIN 0x10000000)
set(MOTE_BOARD_FLASH_BYTES 4M)
set(MOTE_BOARD_RAM_ORIGIN 0x20000000)
set(MOTE_BOARD_RAM_BYTES 512K)
set(MOTE_BOARD_CONSOLE rp2350_uart)
set(MOTE_BOARD_SOURCES ${CMAKE_CURRENT_LIST_DIR}/../image_def_rp2350.S)
set(MOTE_BOARD_UART 0x40070000)
set(MOTE_BOARD_CLOCK_HZ 150000000)
