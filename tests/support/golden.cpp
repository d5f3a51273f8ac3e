// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace test {
namespace {

// The families that tests run (tests/golden/README.md).
const std::set<std::string> kFamilies = {"audio",           "classic",    "decoder", "encoder",
                                         "encoder_decoder", "multimodal", "vision"};

nlohmann::json golden_json(const std::filesystem::path& folder) {
  std::ifstream in(folder / "golden.json");
  return nlohmann::json::parse(in);
}

/// Returns the family of a model, which tests must know: one that they do not would pass unseen.
std::string family_of(const std::filesystem::path& folder) {
  const std::string family = golden_json(folder).value("family", "");
  if (kFamilies.count(family) == 0)
    throw std::runtime_error((folder / "golden.json").string() + ": no test runs the family \"" + family +
                             "\"");
  return family;
}

}  // namespace

std::filesystem::path golden_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/models";
}

std::vector<std::string> golden_names(const std::string& family) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (family_of(entry.path()) == family) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

double rounded_weights_error(const std::string& name) {
  return golden_json(golden_folder() / name).value("rounded_weights", 0.0);
}

double golden_tolerance(const std::string& name) {
  return golden_json(golden_folder() / name).at("tolerance").get<double>();
}

}  // namespace test
