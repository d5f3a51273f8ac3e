// SPDX-License-Identifier: Apache-2.0
//
// The config.json of a golden model with other values: read, and built into a graph over the model's tensors.
// The first two bytes choose the model, each following pair a key, of nested objects too, and its new value.
#include <optional>

#include "tests/fuzz/fuzz.h"
#include "tests/support/golden_configs.h"

using mote::convert::Error;
using nlohmann::json;

namespace {

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
  static std::vector<test::ConfiguredModel> models = test::read_configured_models();
  if (size < 2) return 0;
  test::ConfiguredModel& model = models[(size_t{data[0]} * 256 + data[1]) % models.size()];
  json changed = *model.config;
  for (size_t i = 2; i + 1 < size; i += 2)
    change(changed, model.paths[data[i] % model.paths.size()], values()[data[i + 1] % values().size()]);
  try {
    test::build_configured(model, std::move(changed));
  } catch (const Error&) {
  }
  return 0;
}
