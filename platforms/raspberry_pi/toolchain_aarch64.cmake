# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Raspberry Pi OS (Pi 3 to 5, Zero 2 W) and other aarch64 Linux, with the distribution's
# g++-aarch64-linux-gnu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# MOTE_SYSROOT may name a folder with what the tools and tests need besides: scripts/test-arm makes one.
set(CMAKE_FIND_ROOT_PATH ${MOTE_SYSROOT} /usr/aarch64-linux-gnu)
if(MOTE_SYSROOT)
  set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${MOTE_SYSROOT}/usr/include)
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_SYSROOT)
find_program(MOTE_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
if(MOTE_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MOTE_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
