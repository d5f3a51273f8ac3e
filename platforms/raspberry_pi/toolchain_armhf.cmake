# SPDX-License-Identifier: Apache-2.0
# Cross build for 32-bit Raspberry Pi OS (Pi 2 and later) and other armhf Linux, with the distribution's
# g++-arm-linux-gnueabihf. A Pi 1 and a Zero have an older processor.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(MOTE_CROSS_TRIPLE arm-linux-gnueabihf)
find_program(MOTE_QEMU NAMES qemu-arm-static qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/../cross_linux.cmake)
