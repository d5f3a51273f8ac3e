# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Raspberry Pi OS (Pi 3 to 5, Zero 2 W) and other aarch64 Linux, with the distribution's
# g++-aarch64-linux-gnu.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MOTE_CROSS_TRIPLE aarch64-linux-gnu)
find_program(MOTE_QEMU NAMES qemu-aarch64-static qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/../cross_linux.cmake)
