// SPDX-License-Identifier: Apache-2.0
//
// The golden models whose config.json is read with other values, over the weights that they have.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/build_transformer.h"
#include "converter/quantizers/policy.h"
#include "converter/source.h"
#include "converter/tensor_set.h"
#include "host/base/error.h"

namespace test {

struct ConfiguredModel {
  std::string name;
  mote::convert::Source source;
  std::shared_ptr<const nlohmann::json> config;  // the original
  std::vector<std::string> paths;                // JSON pointers of its values
};

/// All golden models but those of which a tower has to be chosen.
inline std::vector<ConfiguredModel> read_configured_models() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(MOTE_SOURCE_DIR "/tests/golden/models"))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<ConfiguredModel> models;
  for (const std::filesystem::path& folder : folders) {
    try {
      ConfiguredModel model{folder.filename().string(), mote::convert::read_source(folder), nullptr, {}};
      model.config = model.source.config;
      const nlohmann::json flat = model.config->flatten();
      for (const auto& [path, value] : flat.items()) model.paths.push_back(path);
      models.push_back(std::move(model));
    } catch (const mote::convert::Error&) {
    }
  }
  return models;
}

/// Reads the config and builds its graph. Throws Error where one of both is refused.
inline void build_configured(ConfiguredModel& model, nlohmann::json changed) {
  using namespace mote::convert;
  model.source.config = std::make_shared<const nlohmann::json>(std::move(changed));
  model.source.notes.clear();
  Config config(*model.source.config);
  const TransformerSpec spec = find_architecture(config).read(model.source, config);
  config.finish();
  const TypePolicy policy("f32", model.source, spec.is_encoder());
  TensorSet tensors(model.source);
  build_transformer(spec, policy, tensors);
}

}  // namespace test
