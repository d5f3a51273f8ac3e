# SPDX-License-Identifier: Apache-2.0
# A port of the tree that it lies in: vcpkg install mote --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES host MOTE_BUILD_TOOLS sound MOTE_SOUND)
find_program(flatc flatc PATHS "${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers" NO_DEFAULT_PATH REQUIRED)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    -DMOTE_BUILD_TESTS=OFF
    -DMOTE_UNITY=ON
    -DMOTE_XNNPACK=OFF
    "-DMOTE_FLATC=${flatc}"
    "-DMOTE_FLATBUFFERS_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME mote CONFIG_PATH lib/cmake/mote)
vcpkg_fixup_pkgconfig()
if("host" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES mote AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
