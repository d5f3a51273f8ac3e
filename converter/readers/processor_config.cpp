// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/processor_config.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr const char* kProcessorFile = "processor_config.json";
constexpr const char* kPreprocessorFile = "preprocessor_config.json";

/// Keys that name classes, which the two libraries' versions call otherwise, and those of filters that the
/// original computes.
constexpr std::string_view kNotCompared[] = {
    "processor_class", "image_processor_type", "feature_extractor_type", "_valid_processor_keys",
    "auto_map",        "mel_filters"};

/// A size of one number is that of both sides, or of the shorter.
bool is_same(const json& one, const json& other) {
  if (one == other) return true;
  if (one.is_object() == other.is_object()) return false;
  const json& sides = one.is_object() ? one : other;
  const json& side = one.is_object() ? other : one;
  return !sides.empty() && side.is_number() &&
         std::all_of(sides.begin(), sides.end(), [&](const json& value) { return value == side; });
}

void require_same(const json& own, const json& older, const JsonFile& file, const char* part) {
  for (const auto& [key, value] : own.items()) {
    const auto other = older.find(key);
    const bool is_compared = std::find(std::begin(kNotCompared), std::end(kNotCompared),
                                       std::string_view(key)) == std::end(kNotCompared);
    if (!is_compared || value.is_null() || other == older.end() || other->is_null() || is_same(value, *other))
      continue;
    file.refuse("{}.{} is {}, {} beside it has {}: remove the file that the model was not saved with", part,
                key, value.dump(), kPreprocessorFile, other->dump());
  }
}

std::optional<ProcessorSettings> read_settings(const Source& source,
                                               std::initializer_list<const char*> parts) {
  if (source.directory.empty()) return std::nullopt;
  const std::filesystem::path path = source.directory / kProcessorFile,
                              older_path = source.directory / kPreprocessorFile;
  std::error_code ignored;
  std::optional<json> older;
  if (std::filesystem::exists(older_path, ignored)) older = read_json_object(older_path, kTokenizerJsonDepth);
  const json processor = read_optional_json_object(path, kTokenizerJsonDepth);
  const JsonFile file(path.string());
  for (const char* part : parts) {
    const json* own = file.find(processor, part);
    if (own == nullptr) continue;
    if (!own->is_object()) file.refuse_value(part, own, "an object");
    if (older) require_same(*own, *older, file, part);
    return ProcessorSettings{*own, path.string()};
  }
  if (!older) return std::nullopt;
  return ProcessorSettings{std::move(*older), older_path.string()};
}

}  // namespace

std::optional<ProcessorSettings> read_picture_settings(const Source& source) {
  return read_settings(source, {"image_processor"});
}

std::optional<ProcessorSettings> read_sound_settings(const Source& source) {
  return read_settings(source, {"feature_extractor", "audio_processor"});
}

}  // namespace mote::convert
