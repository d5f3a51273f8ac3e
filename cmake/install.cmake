# SPDX-License-Identifier: Apache-2.0
# cmake --install: libraries, headers, the command line, find_package(mote) and pkg-config's mote.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(mote_shared PROPERTIES EXPORT_NAME mote)
set_target_properties(mote_core PROPERTIES EXPORT_NAME core)
set_target_properties(mote_platform PROPERTIES EXPORT_NAME posix)
install(TARGETS mote_shared mote_core mote_platform EXPORT mote)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/mote ${PROJECT_SOURCE_DIR}/platforms/posix/include/mote
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(MOTE_BUILD_TOOLS)
  install(TARGETS mote RUNTIME)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mote)
install(EXPORT mote NAMESPACE mote:: FILE mote-targets.cmake DESTINATION ${package_dir})
file(WRITE ${PROJECT_BINARY_DIR}/mote-config.cmake
"include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/mote-targets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mote-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mote-config.cmake ${PROJECT_BINARY_DIR}/mote-config-version.cmake
        DESTINATION ${package_dir})

configure_file(${PROJECT_SOURCE_DIR}/cmake/mote.pc.in ${PROJECT_BINARY_DIR}/mote.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mote.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
