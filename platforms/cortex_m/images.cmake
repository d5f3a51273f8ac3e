# SPDX-License-Identifier: Apache-2.0
# Images of firmware, each with a model in flash. `MOTE_IMAGE_SOURCES`: start-up and console of the
# board; `script`: its linker script.
include(${CMAKE_CURRENT_LIST_DIR}/firmware.cmake)
set(MOTE_READER_MODEL "" CACHE FILEPATH "The .mote file of the reader of pictures; empty: it is not built")
set(MOTE_READER_PICTURES "" CACHE FILEPATH "Pictures that the reader has in flash, a byte a pixel; empty: none")
set(MOTE_LISTENER_MODEL "" CACHE FILEPATH "The .mote file of the listener; empty: it is not built")
set(MOTE_LISTENER_SOUND "" CACHE FILEPATH "What the listener hears: samples of 16 bits at its model's rate")

set(images ${CMAKE_CURRENT_LIST_DIR})
enable_language(ASM)
# An image <target>.elf for the board.
function(mote_image target model)
  add_executable(${target} ${ARGN} ${images}/model.S ${images}/console.cpp ${MOTE_IMAGE_SOURCES})
  set_property(SOURCE ${images}/model.S APPEND PROPERTY OBJECT_DEPENDS ${model})
  target_include_directories(${target} PRIVATE ${images})
  target_compile_definitions(${target} PRIVATE MOTE_BOARD="${MOTE_BOARD}" MOTE_BOARD_UART=${MOTE_BOARD_UART}
    MOTE_BOARD_CLOCK_HZ=${MOTE_BOARD_CLOCK_HZ} MOTE_FIRMWARE_CONTEXT=${MOTE_FIRMWARE_CONTEXT}
    MOTE_FIRMWARE_CHUNK=${MOTE_FIRMWARE_CHUNK} MOTE_FIRMWARE_TEXT_BYTES=${MOTE_FIRMWARE_TEXT_BYTES}
    MOTE_FIRMWARE_MODEL="${model}")
  set_target_properties(${target} PROPERTIES SUFFIX .elf LINK_DEPENDS ${script} LINKER_LANGUAGE ${MOTE_IMAGE_LINKER})
  target_link_libraries(${target} PRIVATE mote_platform m)
  target_link_options(${target} PRIVATE -nostartfiles -T${script} LINKER:--gc-sections
    LINKER:-Map=${CMAKE_BINARY_DIR}/${target}.map)
  if(MOTE_FIRMWARE_ARENA_BYTES)
    target_link_options(${target} PRIVATE LINKER:--defsym=arena_bytes=${MOTE_FIRMWARE_ARENA_BYTES})
  endif()
  mote_core_options(${target})
endfunction()

if(MOTE_FIRMWARE_MODEL)
  mote_image(mote_assistant ${MOTE_FIRMWARE_MODEL} ${images}/assistant.cpp)
endif()
# An image of an encoder that reads or hears `data`, a file or nothing. All its rows are computed at once, which takes
# more stack.
function(mote_image_of_data target model data source)
  mote_image(${target} ${model} ${source} ${images}/data.S)
  target_link_options(${target} PRIVATE LINKER:--defsym=stack_bytes=6144)
  if(data)
    set_property(SOURCE ${images}/data.S APPEND PROPERTY OBJECT_DEPENDS ${data})
    target_compile_definitions(${target} PRIVATE MOTE_IMAGE_DATA="${data}")
  endif()
endfunction()
if(MOTE_READER_MODEL)
  mote_image_of_data(mote_reader ${MOTE_READER_MODEL} "${MOTE_READER_PICTURES}" ${images}/reader.cpp)
endif()
if(MOTE_LISTENER_MODEL)
  mote_image_of_data(mote_listener ${MOTE_LISTENER_MODEL} "${MOTE_LISTENER_SOUND}" ${images}/listener.cpp)
endif()
