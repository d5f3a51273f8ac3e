# SPDX-License-Identifier: Apache-2.0
# Compiler options: warnings for all, and what determinism and the no-heap promise take for the core.

set(MOTE_WARNINGS -Wall -Wextra -Wconversion $<$<BOOL:${MOTE_WERROR}>:-Werror>)

set(MOTE_PLATFORM posix CACHE STRING "The folder of platforms/ to build for")
set_property(CACHE MOTE_PLATFORM PROPERTY STRINGS posix windows cortex_m riscv)

find_program(MOTE_CCACHE ccache)
mark_as_advanced(MOTE_CCACHE)
if(MOTE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${MOTE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MOTE_CCACHE})
endif()

# Headers of Windows without macros for min and max; the C library's functions that are safe with threads.
if(MOTE_PLATFORM STREQUAL "windows")
  add_compile_definitions(NOMINMAX WIN32_LEAN_AND_MEAN _POSIX_THREAD_SAFE_FUNCTIONS)
endif()

# Firmware is linked at fixed addresses; on hosts the archives also go into the shared library.
if(MOTE_PLATFORM STREQUAL "posix")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

# Hardening of what runs under an operating system. The core calls nothing but memcpy and its like and is linked into
# programs of any C library: -D_FORTIFY_SOURCE is for the rest (mote_host_options). docs/packaging.md has what it costs.
if(MOTE_HARDEN AND MOTE_PLATFORM STREQUAL "posix" AND NOT MOTE_SANITIZE)
  add_compile_options(-fstack-protector-strong)
  include(CheckCXXCompilerFlag)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    check_cxx_compiler_flag(-fcf-protection=full MOTE_HAS_CF_PROTECTION)
    add_compile_options($<$<BOOL:${MOTE_HAS_CF_PROTECTION}>:-fcf-protection=full>)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    check_cxx_compiler_flag(-mbranch-protection=standard MOTE_HAS_BRANCH_PROTECTION)
    add_compile_options($<$<BOOL:${MOTE_HAS_BRANCH_PROTECTION}>:-mbranch-protection=standard>)
  endif()
  add_link_options(LINKER:-z,relro,-z,now)
  if(NOT MOTE_STATIC)  # which is linked by -static-pie; -pie beside it would ask for a loader
    include(CheckPIESupported)
    check_pie_supported()
  endif()
  set(MOTE_HARDENED ON)
endif()

# Registers of x87 keep more bits than a float has.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^i[3-6]86$")
  add_compile_options(-msse2 -mfpmath=sse)
endif()

set(MOTE_SANITIZERS_address address,undefined)
set(MOTE_SANITIZERS_thread thread)
if(MOTE_SANITIZE)
  if(NOT DEFINED MOTE_SANITIZERS_${MOTE_SANITIZE})
    message(FATAL_ERROR "MOTE_SANITIZE is '${MOTE_SANITIZE}'; there are address, thread and OFF")
  endif()
  add_compile_options(-fsanitize=${MOTE_SANITIZERS_${MOTE_SANITIZE}} -fno-sanitize-recover=all -fno-omit-frame-pointer
                      -O1 -g1)
  add_link_options(-fsanitize=${MOTE_SANITIZERS_${MOTE_SANITIZE}})
  add_compile_definitions(MOTE_SANITIZED)  # for tests that replace what the sanitizers replace
endif()
if(MOTE_SANITIZE STREQUAL "address")
  # Of unrolled kernels: marking each turn's variables as out of scope makes 4 times the code, and minutes of it;
  # checks of pointers that AddressSanitizer and the misaligned runs of the tests make too, twice the rest.
  set(MOTE_UNROLLED_OPTIONS -fno-sanitize-address-use-after-scope -fno-sanitize=null,alignment,object-size)
endif()

if(MOTE_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang OR NOT MOTE_SANITIZE STREQUAL "address")
    message(FATAL_ERROR "MOTE_BUILD_FUZZERS needs clang and MOTE_SANITIZE=address; the preset fuzz has both")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Runtime and kernels. -ffp-contract=off: an fma is written where one is meant, on every compiler. What the shared
# library shows is cmake/exports.map's business; -fno-semantic-interposition lets calls inside it be direct.
function(mote_core_options target)
  target_compile_options(${target} PRIVATE ${MOTE_WARNINGS} -ffp-contract=off -fno-math-errno -ffunction-sections
    -fdata-sections -fno-semantic-interposition
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  if(MOTE_KERNEL_FAMILY)
    string(TOUPPER ${MOTE_KERNEL_FAMILY} family)
    target_compile_definitions(${target} PRIVATE MOTE_KERNELS_${family}=1)
  endif()
endfunction()

# Converter, tools, platform, tests.
function(mote_host_options target)
  target_compile_options(${target} PRIVATE ${MOTE_WARNINGS} -ffp-contract=off)
  if(MOTE_HARDENED)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
  # Instrumented templates of JSON and argument parsing take minutes to optimise; fuzzing gets them back. Null and
  # objects' ends are AddressSanitizer's too, and alignment counts where kernels and the runtime read files.
  if(MOTE_SANITIZE AND NOT MOTE_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=null,alignment,object-size)
  endif()
  # Bytes are counted in 64 bits; what addresses hold is checked where memory is asked for. Without psabi, GCC notes on
  # Arm that its versions before 7.1 passed some arguments otherwise.
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    target_compile_options(${target} PRIVATE -Wno-conversion -Wno-narrowing -Wno-psabi)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# The same of work on tables and text, and of tests: two thirds of the time to compile. With -Os its code is a third smaller.
set(MOTE_TABLE_LEVEL -O1 CACHE STRING "How work on tables and text is optimised in release builds")
function(mote_table_options target)
  mote_host_options(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${MOTE_TABLE_LEVEL}>)
endfunction()

# With MOTE_UNITY the target's sources are compiled in so many groups. A source's name decides its group, so that a new source
# is compiled with the others of one group and moves none. Names in anonymous namespaces must be unique within the target.
function(mote_unity target groups)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MOTE_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(MD5 digits ${name})
    string(SUBSTRING ${digits} 0 6 digits)
    math(EXPR group "0x${digits} % ${groups}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# The same of tests, whose names are unique among neighbours in the order of the alphabet.
function(mote_unity_tests target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MOTE_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# Writes the functions that headers declare as a list of what a DLL exports.
function(mote_write_def file)
  set(exports "EXPORTS\n")
  foreach(header ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} lines REGEX "^[a-z].*mote_[a-z0-9_]+\\(")
    foreach(line ${lines})
      if(NOT line MATCHES "^typedef" AND line MATCHES "[ *](mote_[a-z0-9_]+)\\(")
        string(APPEND exports "  ${CMAKE_MATCH_1}\n")
      endif()
    endforeach()
  endforeach()
  file(WRITE ${file} "${exports}")
endfunction()

# A shared library exports what its map says; on Windows, the functions of its headers. One of macOS shows all it has.
function(mote_exports target map)
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map})
  if(MOTE_PLATFORM STREQUAL "windows")
    mote_write_def(${CMAKE_CURRENT_BINARY_DIR}/${target}.def ${ARGN} ${PROJECT_SOURCE_DIR}/runtime/include/mote/status.h)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}.def)
    set_target_properties(${target} PROPERTIES PREFIX "")
    target_link_options(${target} PRIVATE -static)
  elseif(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--version-script=${map} $<$<NOT:$<BOOL:${MOTE_SANITIZE}>>:-Wl,-z,defs>)
  endif()
endfunction()
