# SPDX-License-Identifier: Apache-2.0
# Bare metal with newlib-nano for the processor of MOTE_BOARD, a file of boards/.
set(MOTE_BOARD mps2-an386 CACHE STRING "The board that firmware is made for, a file of platforms/cortex_m/boards")
include(${CMAKE_CURRENT_LIST_DIR}/boards/${MOTE_BOARD}.cmake)
set(MOTE_BARE_TRIPLE arm-none-eabi)
include(${CMAKE_CURRENT_LIST_DIR}/../bare_metal.cmake)

set(CMAKE_SYSTEM_PROCESSOR ${MOTE_BOARD_PROCESSOR})
set(CMAKE_C_FLAGS_INIT "${flags} --specs=nano.specs")
set(CMAKE_CXX_FLAGS_INIT "${flags} --specs=nano.specs")
