// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace test {
namespace {

nlohmann::json golden_json(const std::filesystem::path& folder) {
  std::ifstream in(folder / "golden.json");
  return nlohmann::json::parse(in);
}

}  // namespace

std::filesystem::path golden_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/models";
}

std::vector<std::string> golden_names(const std::string& family) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (golden_json(entry.path()).at("family") == family) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

double golden_tolerance(const std::string& name) {
  return golden_json(golden_folder() / name).at("tolerance").get<double>();
}

}  // namespace test
