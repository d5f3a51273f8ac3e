# SPDX-License-Identifier: Apache-2.0
# What firmware is made of, and the platform: of Cortex-M and of RISC-V.
set(MOTE_FIRMWARE_MODEL "" CACHE FILEPATH "The .mote file that the firmware holds")
set(MOTE_FIRMWARE_PARTITION_ORIGIN "" CACHE STRING "Where a model lies that the firmware does not hold, a multiple of 64")
set(MOTE_FIRMWARE_PARTITION_BYTES "" CACHE STRING "Bytes of that place; empty: the firmware holds MOTE_FIRMWARE_MODEL")
set(MOTE_FIRMWARE_ARENA_BYTES "" CACHE STRING "Bytes of the firmware's arena; empty: all RAM that is left")
set(MOTE_FIRMWARE_CONFIG "" CACHE FILEPATH
    "The mote_config.h of the model, by mote export-c: options of the session, parts of mote; empty: its defaults, all of mote")
set(MOTE_FIRMWARE_GRAMMAR "" CACHE FILEPATH "The grammar.mgr that export-c --grammar --incbin wrote, which the assistant keeps its answers to")
if(MOTE_FIRMWARE_GRAMMAR)
  if(NOT MOTE_FIRMWARE_CONFIG OR NOT MOTE_FIRMWARE_MODEL)
    message(FATAL_ERROR "MOTE_FIRMWARE_GRAMMAR takes MOTE_FIRMWARE_MODEL and the MOTE_FIRMWARE_CONFIG of mote export-c --grammar")
  endif()
  file(SIZE "${MOTE_FIRMWARE_GRAMMAR}" grammar_bytes)
  file(STRINGS "${MOTE_FIRMWARE_CONFIG}" config_bytes REGEX "^#define MOTE_CONFIG_GRAMMAR_BYTES ${grammar_bytes} ")
  if(NOT config_bytes)
    message(FATAL_ERROR "MOTE_FIRMWARE_GRAMMAR: ${MOTE_FIRMWARE_CONFIG} is not for ${MOTE_FIRMWARE_GRAMMAR}; "
            "run mote export-c --grammar on it again")
  endif()
endif()

add_library(mote_platform STATIC ${CMAKE_CURRENT_LIST_DIR}/platform.cpp)
target_link_libraries(mote_platform PUBLIC mote_core)
target_link_libraries(mote_core INTERFACE mote_platform)  # it calls mote_platform_default
mote_core_options(mote_platform)
if(MOTE_FIRMWARE_CONFIG)
  if(MOTE_FIRMWARE_MODEL)
    file(SIZE "${MOTE_FIRMWARE_MODEL}" model_bytes)
    file(STRINGS "${MOTE_FIRMWARE_CONFIG}" config_bytes REGEX "^#define MOTE_CONFIG_MODEL_BYTES [0-9]+$")
    string(REGEX REPLACE ".* " "" config_bytes "${config_bytes}")
    if(NOT model_bytes STREQUAL config_bytes)
      message(FATAL_ERROR "MOTE_FIRMWARE_CONFIG: ${MOTE_FIRMWARE_CONFIG} is for a model of ${config_bytes} bytes, "
              "${MOTE_FIRMWARE_MODEL} has ${model_bytes}; run mote export-c on it again")
    endif()
  endif()
  target_compile_definitions(mote_core PUBLIC MOTE_MODEL_CONFIG="${MOTE_FIRMWARE_CONFIG}")
endif()
