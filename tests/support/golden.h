// SPDX-License-Identifier: Apache-2.0
//
// The golden models of tests/golden/models, as their golden.json describes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace test {

std::filesystem::path golden_folder();

/// Of tests/golden/models, in order; `family` as golden.json has it.
std::vector<std::string> golden_names(const std::string& family);

/// How far outputs may be from the golden ones.
double golden_tolerance(const std::string& name);

}  // namespace test
