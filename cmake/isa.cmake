# SPDX-License-Identifier: Apache-2.0
# The suffix of a kernel file (…__avx2.cpp) names its instruction set; this table gives the compiler flags.

set(MOTE_ISA_FLAGS_sse -msse4.1 -DMOTE_WIDE_TURNS $<$<CONFIG:Release>:-O2>)  # small before fast
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

# Of AArch64, whose Advanced SIMD needs no flag.
set(MOTE_ISA_FLAGS_neon "")
set(MOTE_ISA_FLAGS_dotprod -march=armv8.2-a+dotprod)
set(MOTE_ISA_FLAGS_i8mm -march=armv8.2-a+dotprod+i8mm+bf16)
# In 32 bits: a Pi 2 and later.
set(MOTE_ISA_FLAGS_armv7_neon -march=armv7-a -mfpu=neon-vfpv4 $<$<CXX_COMPILER_ID:GNU>:-mfp16-format=ieee>)

# Of Cortex-M, whose flags come from the board. A file of a processor that the board has not is empty.
set(MOTE_ISA_FLAGS_dsp -O2)
set(MOTE_ISA_FLAGS_helium -O2)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(MOTE_KERNEL_FAMILY x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(MOTE_KERNEL_FAMILY arm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|armv7l|armv8l)$")  # a kernel of 64 bits may have programs of 32
  set(MOTE_KERNEL_FAMILY armv7)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^cortex-m(4|7|33|55|85)$")
  set(MOTE_KERNEL_FAMILY cortex_m)
endif()

# Sets `out` to the files of the INSTANCE lines of kernel_list.inc for the target's architecture, which it writes.
function(mote_isa_instances out)
  set(list ${PROJECT_SOURCE_DIR}/kernels/kernel_list.inc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(READ ${list} text)
  string(TOUPPER ${MOTE_KERNEL_FAMILY} architecture)
  string(REGEX MATCH "\n#ifdef MOTE_KERNELS_${architecture}\n[^#]*\n#endif" text "${text}")
  string(REGEX REPLACE "\n +" " " text "${text}")
  string(REGEX MATCHALL "\nINSTANCE1?\\([^\n]*\\)" lines "${text}")
  set(files "")
  foreach(line IN LISTS lines)
    if(line MATCHES "INSTANCE1")
      string(REPLACE ", f32," ", f32, ," line "${line}")  # no second type
    endif()
    set(word " *([A-Za-z0-9_/]*),")
    if(NOT line MATCHES "\\(${word}${word}${word}${word}${word}${word}${word}${word} *(.*)\\)$")
      message(FATAL_ERROR "${list}: not understood:${line}")
    endif()
    set(op ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2}_${CMAKE_MATCH_3})
    if(CMAKE_MATCH_4)
      string(APPEND name _${CMAKE_MATCH_4})
    endif()
    set(isa ${CMAKE_MATCH_5})
    set(scratch ${CMAKE_MATCH_6})
    set(template ${CMAKE_MATCH_7})
    set(vectors ${CMAKE_MATCH_8})
    set(function ${CMAKE_MATCH_9})
    set(scratch_function "")
    if("${scratch}" STREQUAL "scratch")
      string(REGEX REPLACE "^([a-z0-9_:]+)" "\\1_scratch" call "${function}")
      set(scratch_function "uint64_t ${name}_scratch(const ScratchShape& shape) { return mote::${call}(shape); }\n")
    endif()
    set(file ${PROJECT_BINARY_DIR}/kernels/${name}__${isa}.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/kernels/instance.cpp.in ${file} @ONLY)
    list(APPEND files ${file})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Sets `out` to the kernel sources of the target's architecture, each with its flags.
function(mote_isa_sources out)
  set(${out} "" PARENT_SCOPE)
  if(NOT MOTE_KERNEL_FAMILY)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${MOTE_KERNEL_FAMILY}/*__*.cpp)
  mote_isa_instances(instances)
  list(APPEND sources ${instances})
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^.*__([a-z0-9_]+)\\.cpp$" "\\1" isa ${source})
    if(NOT DEFINED MOTE_ISA_FLAGS_${isa})
      message(FATAL_ERROR "${source}: no compiler flags for instruction set '${isa}' in cmake/isa.cmake")
    endif()
    set(small "")
    if(isa STREQUAL "sse" AND NOT source MATCHES "/(linear|attention)_")
      set(small $<$<CONFIG:Release>:-Os>)  # work on rows takes little of the time
    endif()
    if(isa STREQUAL "dsp" AND source MATCHES "/(rope_table|kv_store|norm)_")
      set(small -Os)
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                                "${MOTE_ISA_FLAGS_${isa}};${MOTE_UNROLLED_OPTIONS};${small}")
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
