# SPDX-License-Identifier: Apache-2.0
# A board of one's own, outside mote's tree: copy this folder, change it, and name this file:
#   cmake --preset cortex-m4f -B build-mine -DMOTE_BOARD=/path/to/board.cmake -DMOTE_FIRMWARE_MODEL=model.mote
# It stands on Arm's MPS2 with a Cortex-M4F, so that `qemu-system-arm -M mps2-an386` runs it.
set(MOTE_BOARD_PROCESSOR cortex-m4)
set(MOTE_BOARD_FLAGS -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
set(MOTE_BOARD_LINKER_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/link.ld)
set(MOTE_BOARD_SOURCES ${CMAKE_CURRENT_LIST_DIR}/board.cpp)
set(MOTE_BOARD_DEFINITIONS BOARD_TICKS_PER_SECOND=1000)
set(MOTE_BOARD_CLOCK_HZ 25000000)
set(MOTE_BOARD_HAS_TICKS ON)  # board.cpp has board_ticks: SysTick is its tick
