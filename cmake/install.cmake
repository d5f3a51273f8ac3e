# SPDX-License-Identifier: Apache-2.0
# cmake --install: libraries, headers, the command line, find_package(mote) and pkg-config's mote.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(mote_shared PROPERTIES EXPORT_NAME mote)
set_target_properties(mote_static PROPERTIES EXPORT_NAME static)
install(TARGETS mote_shared mote_static EXPORT mote)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/mote ${PROJECT_SOURCE_DIR}/platforms/posix/include/mote
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET mote_xnnpack)
  set_target_properties(mote_xnnpack PROPERTIES EXPORT_NAME xnnpack)
  install(TARGETS mote_xnnpack EXPORT mote)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/xnnpack/include/mote DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
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

# mote.pc finds the prefix from its own place, so that an installed tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH MOTE_PC_TO_PREFIX ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH MOTE_PC_TO_LIBDIR ${pkgconfig_dir} ${CMAKE_INSTALL_FULL_LIBDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/mote.pc.in ${PROJECT_BINARY_DIR}/mote.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mote.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
