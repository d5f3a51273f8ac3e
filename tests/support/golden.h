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

/// Returns the relative error of the original's last hidden states, in exact arithmetic, where its weights
/// alone are rounded to 8 bits; 0 where golden.json does not have it.
double rounded_weights_error(const std::string& name);

/// How far outputs may be from the golden ones.
double golden_tolerance(const std::string& name);

}  // namespace test
