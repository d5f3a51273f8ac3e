// SPDX-License-Identifier: Apache-2.0
//
// The config.json of a golden model with other values: read, and built into a graph over the model's tensors.
// The first two bytes choose the model, each following pair a key, of nested objects too, and its new value.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "converter/architectures/architecture.h"
#include "converter/build_transformer.h"
#include "converter/error.h"
#include "converter/quantizers/policy.h"
#include "converter/source.h"
#include "converter/tensor_set.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;
using nlohmann::json;

namespace {

struct Model {
  Source source;
  std::shared_ptr<const json> config;  // the original
  std::vector<std::string> paths;      // JSON pointers of its values
};

std::vector<Model> read_models() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(MOTE_SOURCE_DIR "/tests/golden/models"))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Model> models;
  for (const std::filesystem::path& folder : folders) {
    try {
      Model model{read_source(folder), nullptr, {}};
      model.config = model.source.config;
      const json flat = model.config->flatten();
      for (const auto& [path, value] : flat.items()) model.paths.push_back(path);
      models.push_back(std::move(model));
    } catch (const Error&) {  // of a tower, which has to be chosen
    }
  }
  return models;
}

/// What sizes, flags, names and lists can be at their worst; none: the key is left out.
const std::vector<std::optional<json>>& values() {
  static const std::vector<std::optional<json>> all = {std::nullopt,
                                                       nullptr,
                                                       true,
                                                       false,
                                                       0,
                                                       1,
                                                       -1,
                                                       2,
                                                       3,
                                                       7,
                                                       64,
                                                       1 << 12,
                                                       (1 << 24) - 1,
                                                       1 << 24,
                                                       (1 << 24) + 1,
                                                       uint64_t{1} << 31,
                                                       uint64_t{1} << 32,
                                                       uint64_t{1} << 53,
                                                       UINT64_MAX,
                                                       INT64_MIN,
                                                       0.5,
                                                       -0.5,
                                                       1e-30,
                                                       1e30,
                                                       "",
                                                       "x",
                                                       "gelu",
                                                       "relu",
                                                       "full_attention",
                                                       "sliding_attention",
                                                       json::array(),
                                                       json::array({0}),
                                                       json::array({1, 2}),
                                                       json::object(),
                                                       json{{"rope_type", "yarn"}, {"factor", 0}}};
  return all;
}

/// No change where an earlier one took the object that the key was in.
void change(json& config, const std::string& path, const std::optional<json>& value) {
  const json::json_pointer key(path);
  try {
    if (value) {
      config.at(key) = *value;
    } else if (json& object = config.at(key.parent_pointer()); object.is_object()) {
      object.erase(key.back());
    }
  } catch (const json::exception&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::vector<Model> models = read_models();
  if (size < 2) return 0;
  Model& model = models[(size_t{data[0]} * 256 + data[1]) % models.size()];
  json changed = *model.config;
  for (size_t i = 2; i + 1 < size; i += 2)
    change(changed, model.paths[data[i] % model.paths.size()], values()[data[i + 1] % values().size()]);
  model.source.config = std::make_shared<const json>(std::move(changed));
  model.source.notes.clear();
  try {
    Config config(*model.source.config);
    const TransformerSpec spec = find_architecture(config).read(model.source, config);
    config.finish();
    const TypePolicy policy("f32", model.source, spec.is_encoder());
    TensorSet tensors(model.source);
    build_transformer(spec, policy, tensors);
  } catch (const Error&) {
  }
  return 0;
}
