# SPDX-License-Identifier: Apache-2.0
# Bare metal with newlib-nano for the processor of MOTE_BOARD, a file of boards/.
set(MOTE_BOARD mps2-an386 CACHE STRING "The board that firmware is made for, a file of platforms/cortex_m/boards")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_BOARD)
include(${CMAKE_CURRENT_LIST_DIR}/boards/${MOTE_BOARD}.cmake)

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR ${MOTE_BOARD_PROCESSOR})
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_SIZE arm-none-eabi-size CACHE FILEPATH "Prints the sections of the firmware")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a test program would need the linker script
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

list(JOIN MOTE_BOARD_FLAGS " " flags)
set(CMAKE_ASM_FLAGS_INIT "${flags}")
set(CMAKE_C_FLAGS_INIT "${flags} --specs=nano.specs")
set(CMAKE_CXX_FLAGS_INIT "${flags} --specs=nano.specs")
