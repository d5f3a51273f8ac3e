# SPDX-License-Identifier: Apache-2.0
# What the toolchains without an operating system have in common: GCC for MOTE_BARE_TRIPLE, for the processor of MOTE_BOARD.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_BOARD)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER ${MOTE_BARE_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${MOTE_BARE_TRIPLE}-g++)
set(CMAKE_SIZE ${MOTE_BARE_TRIPLE}-size CACHE FILEPATH "Prints the sections of the firmware")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a test program would need the linker script
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

list(JOIN MOTE_BOARD_FLAGS " " flags)
set(CMAKE_ASM_FLAGS_INIT "${flags}")
