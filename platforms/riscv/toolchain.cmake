# SPDX-License-Identifier: Apache-2.0
# Bare metal with picolibc for a 32-bit RISC-V processor without an FPU, as in ESP32-C3 and C6; MOTE_BOARD is a file of
# boards/. Of the C++ library headers alone are needed. Where the compiler brings none, as Debian's, those that newlib
# has for arm-none-eabi do.
set(MOTE_BOARD virt CACHE STRING "The board that firmware is made for: a file of platforms/riscv/boards, or the path of another")
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
set(MOTE_BARE_TRIPLE riscv64-unknown-elf)
include(${CMAKE_CURRENT_LIST_DIR}/../bare_metal.cmake)

set(CMAKE_SYSTEM_PROCESSOR riscv32)
file(GLOB headers /usr/include/newlib/c++/*)
set(cxx_headers "")
foreach(folder IN LISTS headers)
  set(cxx_headers "-isystem ${folder} -isystem ${folder}/arm-none-eabi")
endforeach()
set(CMAKE_C_FLAGS_INIT "${flags} --specs=picolibc.specs")
set(CMAKE_CXX_FLAGS_INIT "${flags} --specs=picolibc.specs ${cxx_headers}")
