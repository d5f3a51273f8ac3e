# SPDX-License-Identifier: Apache-2.0
# MOTE_KERNELS=native or a family's name: of each operation and types only the kernel that this machine's processor, or one
# whose best family that is, takes, and the reference. The build then has two families, `ref` and the best one.
# kernels/dispatch.cpp expands a shorter list, which is written here.

if(CMAKE_CROSSCOMPILING)
  message(FATAL_ERROR "MOTE_KERNELS=native is for programs of this machine; a cross build takes all or none")
endif()

# Sets `out` to the families that the processor runs, its best one last.
function(mote_native_families out)
  set(source ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/native_families.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  string(TOUPPER ${MOTE_KERNEL_FAMILY} architecture)
  set(named ${MOTE_KERNELS})
  if(MOTE_KERNELS STREQUAL "native")
    set(named "")
  endif()
  try_run(ran compiled ${PROJECT_BINARY_DIR}/native_families ${source}
          CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}
          COMPILE_DEFINITIONS -DMOTE_KERNELS_${architecture}=1
          COMPILE_OUTPUT_VARIABLE compile_output RUN_OUTPUT_VARIABLE families ARGS ${named})
  if(NOT compiled OR NOT ran EQUAL 0)
    message(FATAL_ERROR "${source} names a processor's families and did not run: ${families}${compile_output}")
  endif()
  set(${out} ${families} PARENT_SCOPE)
endfunction()

# Sets `out` to those of the given lines that the best family takes, and to the kernels that these call, and writes them
# as the list that kernels/dispatch.cpp expands.
function(mote_native_lines out)
  mote_native_families(families)
  list(GET families -1 best)
  set(kept "")
  set(seen "")
  set(called "")
  foreach(line IN LISTS ARGN)
    # Operation and types, then the family: KERNEL1 and INSTANCE1 have one type.
    if(line MATCHES "^[A-Z]+1\\( *[A-Za-z0-9]+, *([a-z0-9_]+), *([a-z0-9]+), *([a-z0-9_]+),")
      set(name ${CMAKE_MATCH_1}_${CMAKE_MATCH_2})
      set(isa ${CMAKE_MATCH_3})
    elseif(line MATCHES "^[A-Z]+\\( *[A-Za-z0-9]+, *([a-z0-9_]+), *([a-z0-9]+), *([a-z0-9]+), *([a-z0-9_]+),")
      set(name ${CMAKE_MATCH_1}_${CMAKE_MATCH_2}_${CMAKE_MATCH_3})
      set(isa ${CMAKE_MATCH_4})
    else()
      message(FATAL_ERROR "kernels/kernel_list.inc: not understood: ${line}")
    endif()
    if(NOT isa IN_LIST families OR (name IN_LIST seen AND NOT ${isa}::${name} IN_LIST called))
      continue()
    endif()
    list(APPEND seen ${name})
    list(APPEND kept "${line}")
    string(REGEX MATCHALL "[a-z0-9_]+::[a-z0-9_]+" calls "${line}")
    list(APPEND called ${calls})
  endforeach()

  if(NOT kept)
    message(FATAL_ERROR "MOTE_KERNELS=${MOTE_KERNELS}: ${MOTE_KERNEL_FAMILY} has no kernels of ${best}")
  endif()

  # What follows the architectures' parts, the reference kernels, is in every list.
  file(READ ${PROJECT_SOURCE_DIR}/kernels/kernel_list.inc references)
  string(REGEX REPLACE "^.*\n#endif\n" "" references "${references}")
  list(JOIN kept "\n" text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/native/kernels/kernel_list.inc
       CONTENT "// By CMake, from kernels/kernel_list.inc.\n@text@\n@references@" @ONLY)
  set(${out} ${kept} PARENT_SCOPE)
  set(MOTE_NATIVE_FAMILY ${best} CACHE INTERNAL "The best family of the processor that the build is for")
  message(STATUS "mote: kernels of ${best} and the reference")
endfunction()

# Sets `out` to those of the given files that a line of `lines` names, or that kernels of a family share.
function(mote_native_files out lines)
  set(kept "")
  foreach(file IN LISTS ARGN)
    string(REGEX MATCH "([a-z0-9_]+)__([a-z0-9_]+)\\.cpp$" unused ${file})
    set(isa ${CMAKE_MATCH_2})
    string(REPLACE "_" "(, |_)" name ${CMAKE_MATCH_1})
    if(lines MATCHES "KERNEL1?\\([A-Za-z0-9]+, ${name}, ${isa},")
      list(APPEND kept ${file})
    elseif(file MATCHES "/linear_finish__" AND lines MATCHES ", ${isa},")
      list(APPEND kept ${file})
    endif()
  endforeach()
  set(${out} ${kept} PARENT_SCOPE)
endfunction()
