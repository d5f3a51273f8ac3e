# SPDX-License-Identifier: Apache-2.0
# Cross build for Windows on x86-64 with the distribution's MinGW-w64 and its POSIX threads.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
# GCC aligns the stack of Windows to 16 bytes and stores vectors of 32 and 64 there as if it were aligned to those (GCC's
# bug 54412): the assembler takes moves that need no alignment in their place.
set(CMAKE_C_FLAGS_INIT "-Wa,-muse-unaligned-vector-move")
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
# MOTE_SYSROOT may name a folder with what the command and the tests need besides: scripts/windows_sysroot makes one.
set(CMAKE_FIND_ROOT_PATH ${MOTE_SYSROOT} /usr/x86_64-w64-mingw32)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_SYSROOT)
# Wine runs what the build makes to make more of it.
find_program(MOTE_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(MOTE_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_COMMAND} -E env WINEPREFIX=${CMAKE_BINARY_DIR}/wine WINEDEBUG=-all
      WINEDLLOVERRIDES=mscoree,mshtml= ${MOTE_WINE})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
