# SPDX-License-Identifier: Apache-2.0
# The machine `virt` of `qemu-system-riscv32`, with a processor as small as microcontrollers have.
set(MOTE_BOARD_FLAGS -march=rv32imac -mabi=ilp32 -mcmodel=medany)
set(MOTE_BOARD_FLASH_ORIGIN 0x80000000)  # RAM, of which the first part stands for flash
set(MOTE_BOARD_FLASH_BYTES 4M)
set(MOTE_BOARD_RAM_ORIGIN 0x80400000)
set(MOTE_BOARD_RAM_BYTES 4M)
set(MOTE_BOARD_UART 0x10000000)
set(MOTE_BOARD_CONSOLE ns16550)
