# SPDX-License-Identifier: Apache-2.0
# mote_schema: the header generated from schema/mote.fbs, with the tables by which the fuzzer walks a file, and
# FlatBuffers' own headers.

find_program(MOTE_FLATC flatc REQUIRED)
# A cross build must not see the host's other headers, so FlatBuffers' are linked into a folder of their own.
find_path(MOTE_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
set(MOTE_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${MOTE_GENERATED}/schema ${MOTE_GENERATED}/third_party)
file(CREATE_LINK ${MOTE_FLATBUFFERS_INCLUDE}/flatbuffers ${MOTE_GENERATED}/third_party/flatbuffers SYMBOLIC)

add_custom_command(
  OUTPUT ${MOTE_GENERATED}/schema/mote_generated.h
  COMMAND ${MOTE_FLATC} --cpp --scoped-enums --gen-mutable --reflect-names -o ${MOTE_GENERATED}/schema
          ${PROJECT_SOURCE_DIR}/schema/mote.fbs
  DEPENDS ${PROJECT_SOURCE_DIR}/schema/mote.fbs
  VERBATIM)
add_custom_target(mote_generate_schema DEPENDS ${MOTE_GENERATED}/schema/mote_generated.h)
add_library(mote_schema INTERFACE)
add_dependencies(mote_schema mote_generate_schema)
target_include_directories(mote_schema INTERFACE ${MOTE_GENERATED})
target_include_directories(mote_schema SYSTEM INTERFACE ${MOTE_GENERATED}/third_party)
