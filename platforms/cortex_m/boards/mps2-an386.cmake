# SPDX-License-Identifier: Apache-2.0
# Arm's MPS2 board with the image AN386: a Cortex-M4F. `qemu-system-arm -M mps2-an386` emulates it.
set(MOTE_BOARD_PROCESSOR cortex-m4)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
include(${CMAKE_CURRENT_LIST_DIR}/../mps2.cmake)
set(MOTE_BOARD_CLOCK_HZ 25000000)
