# SPDX-License-Identifier: Apache-2.0
"""A recipe of Conan 2: conan create packaging/conan builds mote's libraries and command and runs a program that links
them."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class MoteRecipe(ConanFile):
    name = "mote"
    license = "Apache-2.0"
    description = "Runs transformers without a heap"
    topics = ("inference", "transformers", "embedded")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    # system: tools take libraries of the system in place of Conan's; runtime: libmote alone, without host and converter.
    options = {"runtime_only": [True, False], "system": [True, False]}
    default_options = {"runtime_only": False, "system": False}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"project\(mote VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "converter/*", "host/*", "kernels/*", "models/commands/*",
                        "platforms/*", "runtime/*", "schema/*", "tools/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        if self.options.system:
            return
        self.requires("flatbuffers/[>=2.0.8 <26]", visible=False)
        if not self.options.runtime_only:
            for one in ("cli11/[>=2.1 <3]", "fmt/[>=9 <12]", "nlohmann_json/[>=3.11 <4]", "utf8proc/[>=2.8 <3]", "zlib/[>=1.2.11 <2]",
                        "libpng/[>=1.6 <2]", "libjpeg-turbo/[>=2.1 <4]"):
                self.requires(one, visible=False)

    def build_requirements(self):
        if not self.options.system:
            self.tool_requires("flatbuffers/<host_version>")  # flatc

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["MOTE_BUILD_TOOLS"] = not self.options.runtime_only
        toolchain.variables["MOTE_BUILD_TESTS"] = False
        toolchain.variables["MOTE_UNITY"] = True
        toolchain.variables["MOTE_XNNPACK"] = False
        toolchain.variables["MOTE_SOUND"] = bool(self.options.system)
        if not self.options.system:
            toolchain.variables["MOTE_FLATBUFFERS_INCLUDE"] = self.dependencies["flatbuffers"].cpp_info.includedirs[0]
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # mote's own mote-config.cmake is what find_package(mote) finds.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "mote")]
        self.cpp_info.libs = ["mote"] if self.options.runtime_only else ["mote_host", "mote_convert", "mote"]
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "m"]
