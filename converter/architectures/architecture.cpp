// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/architecture.h"

#include <fmt/ranges.h>

#include "converter/convert.h"
#include "converter/error.h"

namespace mote::convert {

#define ARCHITECTURE(name, type) TransformerSpec read_##name(const Source& source, Config& config);
#include "converter/architectures/list.inc"
#undef ARCHITECTURE

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
#define ARCHITECTURE(name, type) {type, read_##name},
#include "converter/architectures/list.inc"
#undef ARCHITECTURE
  };
  return list;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) names.emplace_back(architecture.name);
  return names;
}

const Architecture& find_architecture(Config& config) {
  const std::string type = config.text("model_type");
  for (const Architecture& architecture : architectures()) {
    if (type == architecture.name) return architecture;
  }
  config.refuse("model_type \"{}\" is not supported; supported are {}", type,
                fmt::join(architecture_names(), ", "));
}

Activation read_activation(Config& config, const std::string& key, const std::string& fallback) {
  const std::string name = config.text(key, fallback);
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  if (name == "quick_gelu") return Activation::quick_gelu;
  config.refuse(
      "{} \"{}\" is not supported; supported are silu, swish, gelu, gelu_new, gelu_pytorch_tanh, "
      "relu, "
      "quick_gelu",
      key, name);
}

}  // namespace mote::convert
