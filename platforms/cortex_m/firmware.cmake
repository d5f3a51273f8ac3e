# SPDX-License-Identifier: Apache-2.0
# What firmware is made of, and the platform: of Cortex-M and of RISC-V.
set(MOTE_FIRMWARE_MODEL "" CACHE FILEPATH "The .mote file that the firmware holds")
set(MOTE_FIRMWARE_ARENA_BYTES "" CACHE STRING "Bytes of the firmware's arena; empty: all RAM that is left")
set(MOTE_FIRMWARE_CONFIG "" CACHE FILEPATH "The mote_config.h of the model, by mote export-c; empty: all of mote is built")
set(MOTE_FIRMWARE_CONTEXT 96 CACHE STRING "Positions of the assistant's context")
set(MOTE_FIRMWARE_CHUNK 4 CACHE STRING "Prompt tokens that the assistant computes at once")
set(MOTE_FIRMWARE_TEXT_BYTES 64 CACHE STRING "The longest word that the assistant takes")

add_library(mote_platform STATIC ${CMAKE_CURRENT_LIST_DIR}/platform.cpp)
target_link_libraries(mote_platform PUBLIC mote_core)
target_link_libraries(mote_core INTERFACE mote_platform)  # it calls mote_platform_default
mote_core_options(mote_platform)
if(MOTE_FIRMWARE_CONFIG)
  target_compile_definitions(mote_core PUBLIC MOTE_MODEL_CONFIG="${MOTE_FIRMWARE_CONFIG}")
endif()
