# SPDX-License-Identifier: Apache-2.0
# Cross build for macOS on Arm by zig, which has headers and stubs of its libraries: packaging/zig. What it builds links, and
# there is nothing here to run it on.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(zig ${CMAKE_CURRENT_LIST_DIR}/../../packaging/zig)
set(CMAKE_C_COMPILER ${zig} cc -target aarch64-macos)
set(CMAKE_CXX_COMPILER ${zig} c++ -target aarch64-macos)
set(CMAKE_C_COMPILER_LAUNCHER "" CACHE STRING "")  # ccache knows no zig
set(CMAKE_CXX_COMPILER_LAUNCHER "" CACHE STRING "")
foreach(tool AR RANLIB)
  string(TOLOWER ${tool} name)
  set(CMAKE_${tool} ${CMAKE_CURRENT_LIST_DIR}/${name})
endforeach()
set(CMAKE_INSTALL_NAME_TOOL true)  # zig writes names of libraries itself
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "")
# MOTE_SYSROOT may name a folder with what the library for hosts needs besides: scripts/source_sysroot makes one.
set(CMAKE_FIND_ROOT_PATH ${MOTE_SYSROOT})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_SYSROOT)
if(MOTE_SYSROOT)
  set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${MOTE_SYSROOT}/include)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
