# SPDX-License-Identifier: Apache-2.0
# The suffix of a kernel file (…__avx2.cpp) names its instruction set; this table gives the compiler flags.

set(MOTE_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(MOTE_ISA_FLAGS_avx_vnni ${MOTE_ISA_FLAGS_avx2} -mavxvnni)
set(MOTE_ISA_FLAGS_avx512_vnni ${MOTE_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni
    -mprfchw -DMOTE_WIDE_TURNS)
set(MOTE_ISA_FLAGS_avx512_bf16 ${MOTE_ISA_FLAGS_avx512_vnni} -mavx512bf16)
set(MOTE_ISA_FLAGS_amx_int8 ${MOTE_ISA_FLAGS_avx512_vnni} -mamx-tile -mamx-int8)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND MOTE_ISA_FLAGS_avx512_vnni -Wno-uninitialized -Wno-maybe-uninitialized)  # of its own headers: PR 105593
  list(APPEND MOTE_ISA_FLAGS_avx512_bf16 -Wno-uninitialized -Wno-maybe-uninitialized)
  list(APPEND MOTE_ISA_FLAGS_amx_int8 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(MOTE_KERNEL_FAMILY x86)
endif()

# Sets `out` to the kernel sources of the target's architecture, each with its flags.
function(mote_isa_sources out)
  set(${out} "" PARENT_SCOPE)
  if(NOT MOTE_KERNEL_FAMILY)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${MOTE_KERNEL_FAMILY}/*__*.cpp)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^.*__([a-z0-9_]+)\\.cpp$" "\\1" isa ${source})
    if(NOT DEFINED MOTE_ISA_FLAGS_${isa})
      message(FATAL_ERROR "${source}: no compiler flags for instruction set '${isa}' in cmake/isa.cmake")
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                                "${MOTE_ISA_FLAGS_${isa}};${MOTE_UNROLLED_OPTIONS}")
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
