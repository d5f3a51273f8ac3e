# SPDX-License-Identifier: Apache-2.0
# Cross build for 32-bit Raspberry Pi OS (Pi 2 and later) and other armhf Linux, with the distribution's
# g++-arm-linux-gnueabihf. A Pi 1 and a Zero have an older processor.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
# MOTE_SYSROOT may name a folder with what the tools and tests need besides: scripts/test-arm makes one.
set(CMAKE_FIND_ROOT_PATH ${MOTE_SYSROOT} /usr/arm-linux-gnueabihf)
if(MOTE_SYSROOT)
  set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${MOTE_SYSROOT}/usr/include)
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_SYSROOT)
find_program(MOTE_QEMU_ARM NAMES qemu-arm-static qemu-arm)
if(MOTE_QEMU_ARM)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MOTE_QEMU_ARM} -L /usr/arm-linux-gnueabihf)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
