// SPDX-License-Identifier: Apache-2.0
#include "converter/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBefore = "adapter.", kBehind = ".safetensors", kOfLayer = ".adapter_layer.",
                           kHead = "lm_head.";

std::set<std::string> known_languages(const fs::path& directory) {
  std::set<std::string> languages;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= kBefore.size() + kBehind.size() || !name.starts_with(kBefore) ||
        !name.ends_with(kBehind))
      continue;
    languages.insert(name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size()));
  }
  return languages;
}

bool is_of_language(const std::string& name) {
  return name.starts_with(kHead) || name.find(kOfLayer) != std::string::npos;
}

bool has_adapters(const Source& source) {
  return std::any_of(source.tensors.begin(), source.tensors.end(),
                     [](const auto& entry) { return entry.first.find(kOfLayer) != std::string::npos; });
}

}  // namespace

void take_language(Source& source, const std::string& language) {
  if (language.empty()) return;
  if (source.directory.empty() || !has_adapters(source))
    fail("--language {}: the model has no adapters of languages, as MMS has them", shown(language));
  const std::set<std::string> known = known_languages(source.directory);
  if (known.count(language) == 0)
    fail("--language {}: {} has no {}{}{}; it has {}", shown(language), source.directory.string(), kBefore,
         shown(language), kBehind,
         known.empty() ? std::string("none: fetch the language's beside model.safetensors")
                       : fmt::format("those of {}", fmt::join(known, ", ")));
  const fs::path path = source.directory / fmt::format("{}{}{}", kBefore, language, kBehind);
  const auto before = std::move(source.tensors);
  source.tensors.clear();
  add_weights(source, path);
  for (const auto& [name, tensor] : source.tensors) {
    if (!is_of_language(name) || before.count(name) == 0)
      fail("{}: tensor {} is none of the model's adapters or head", path.string(), shown(name));
    if (!name.starts_with(kHead) && tensor.shape != before.at(name).shape)
      fail("{}: tensor {} has another shape than the model's", path.string(), shown(name));
  }
  for (const auto& [name, tensor] : before) {
    if (is_of_language(name) && source.tensors.count(name) == 0)
      fail("{}: tensor {} is missing", path.string(), shown(name));
    source.tensors.try_emplace(name, tensor);
  }
  const auto head = source.tensors.find(std::string(kHead) + "weight");
  if (head == source.tensors.end()) fail("{}: tensor {}weight is missing", path.string(), kHead);
  nlohmann::json config = *source.config;
  config["vocab_size"] = head->second.rows();
  source.config = std::make_shared<const nlohmann::json>(std::move(config));
  source.language = language;
}

}  // namespace mote::convert
