# SPDX-License-Identifier: Apache-2.0
# Bare metal with newlib-nano for the processor of MOTE_BOARD, a file of boards/.
set(MOTE_BOARD mps2-an386 CACHE STRING "The board that firmware is made for: a file of platforms/cortex_m/boards, or the path of another")
if(IS_ABSOLUTE "${MOTE_BOARD}")
  set(MOTE_BOARD_FILE ${MOTE_BOARD})
else()
  set(MOTE_BOARD_FILE ${CMAKE_CURRENT_LIST_DIR}/boards/${MOTE_BOARD}.cmake)
endif()
if(NOT EXISTS ${MOTE_BOARD_FILE})
  message(FATAL_ERROR "MOTE_BOARD is '${MOTE_BOARD}': ${MOTE_BOARD_FILE} is not there; name a file of "
          "${CMAKE_CURRENT_LIST_DIR}/boards or give the absolute path of a board file of your own")
endif()
include(${MOTE_BOARD_FILE})
set(MOTE_BARE_TRIPLE arm-none-eabi)
include(${CMAKE_CURRENT_LIST_DIR}/../bare_metal.cmake)

set(CMAKE_SYSTEM_PROCESSOR ${MOTE_BOARD_PROCESSOR})
set(CMAKE_C_FLAGS_INIT "${flags} --specs=nano.specs")
set(CMAKE_CXX_FLAGS_INIT "${flags} --specs=nano.specs")
