# SPDX-License-Identifier: Apache-2.0
# Compiler options: warnings for all, and what determinism and the no-heap promise take for the core.

set(MOTE_WARNINGS -Wall -Wextra -Wconversion $<$<BOOL:${MOTE_WERROR}>:-Werror>)

if(NOT DEFINED MOTE_PLATFORM)
  set(MOTE_PLATFORM posix)
endif()
if(MOTE_PLATFORM STREQUAL "posix")
  find_package(Threads REQUIRED)
endif()

# Runtime and kernels. -ffp-contract=off: an fma is written where one is meant, on every compiler.
function(mote_core_options target)
  target_compile_options(${target} PRIVATE ${MOTE_WARNINGS} -ffp-contract=off -fno-math-errno -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(MOTE_KERNEL_FAMILY)
    string(TOUPPER ${MOTE_KERNEL_FAMILY} family)
    target_compile_definitions(${target} PRIVATE MOTE_KERNELS_${family}=1)
  endif()
endfunction()

# Converter, tools, platform, tests.
function(mote_host_options target)
  target_compile_options(${target} PRIVATE ${MOTE_WARNINGS} -ffp-contract=off)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
