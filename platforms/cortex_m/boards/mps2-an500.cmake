# SPDX-License-Identifier: Apache-2.0
# Arm's MPS2 board with the image AN500: a Cortex-M7. `qemu-system-arm -M mps2-an500` emulates it.
set(MOTE_BOARD_PROCESSOR cortex-m7)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16)
include(${CMAKE_CURRENT_LIST_DIR}/../mps2.cmake)
set(MOTE_BOARD_CLOCK_HZ 25000000)
