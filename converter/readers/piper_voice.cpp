// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/piper_voice.h"

#include <fmt/ranges.h>

#include "converter/onnx/piper_graph.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kJsonDepth = 64;
constexpr size_t kLongestName = 64;

fs::path json_of(const fs::path& onnx) { return onnx.string() + ".json"; }

class VoiceJson : public JsonFile {
 public:
  explicit VoiceJson(const fs::path& path)
      : JsonFile(path.string(), ""), voice_(read_json_object(path, kJsonDepth)) {}

  /// Returns the keys of Hugging Face's config that the graph does not say.
  json config() const {
    json config = {{"model_type", "vits"}, {"architectures", {"VitsModel"}}, {"use_bias", true}};
    config["sampling_rate"] = number(part("audio"), "sample_rate", 1.0, 22050.0);
    const json inference = part("inference");
    config["noise_scale"] = number(inference, "noise_scale", 0.0, 0.667);
    config["noise_scale_duration"] = number(inference, "noise_w", 0.0, 0.8);
    const double length = number(inference, "length_scale", 1e-3, 1.0);
    config["speaking_rate"] = 1.0 / length;
    config["num_speakers"] = whole("num_speakers", 1);
    config["default_speaker"] = whole("default_speaker_id", 0);
    if (text(voice_, "phoneme_type", "espeak") == "espeak") config["espeak_voice"] = espeak_voice();
    if (const json names = speaker_names(); !names.empty()) config["speaker_names"] = names;
    return config;
  }

 private:
  json part(const char* key) const {
    const auto found = voice_.find(key);
    if (found == voice_.end() || found->is_null()) return json::object();
    if (!found->is_object()) refuse_value(key, &*found, "an object");
    return *found;
  }
  double number(const json& object, const char* key, double least, double otherwise) const {
    const auto found = object.find(key);
    if (found == object.end()) return otherwise;
    if (!found->is_number() || !(found->get<double>() >= least))
      refuse_value(key, &*found, "a number in range");
    return found->get<double>();
  }
  uint64_t whole(const char* key, uint64_t otherwise) const {
    return optional_size(voice_, key, UINT32_MAX).value_or(otherwise);
  }
  std::string espeak_voice() const {
    const std::string name = text(part("espeak"), "voice", "");
    if (name.empty() || name.size() > kLongestName)
      refuse("espeak.voice is '{}', which is no name of a voice", shown(name));
    return name;
  }
  /// Returns the names in the order of the numbers; an empty list where there are none, or not of all.
  json speaker_names() const {
    const json map = part("speaker_id_map");
    std::vector<std::string> names(map.size());
    for (const auto& [name, id] : map.items()) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= names.size() || !names[id.get<size_t>()].empty())
        return json::array();
      names[id.get<size_t>()] = name;
    }
    return whole("num_speakers", 1) == names.size() && names.size() > 1 ? json(names) : json::array();
  }

  json voice_;
};

}  // namespace

bool is_piper_voice(const fs::path& onnx) {
  std::error_code none;
  return fs::is_regular_file(json_of(onnx), none) &&
         read_json_object(json_of(onnx), kJsonDepth).contains("phoneme_id_map");
}

fs::path find_piper_voice(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory / "config.json", error)) return {};
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".onnx" && is_piper_voice(path)) names.push_back(path.filename().string());
  }
  if (names.size() > 1) {
    std::sort(names.begin(), names.end());
    fail("{} holds {} voices of Piper; name the one to convert: {}", directory.string(), names.size(),
         fmt::join(names, ", "));
  }
  return names.empty() ? fs::path() : directory / names[0];
}

Source read_piper_voice(const fs::path& onnx) {
  Source source;
  source.format = "piper";
  source.name = onnx.stem().string();
  source.directory = onnx.has_parent_path() ? onnx.parent_path() : ".";
  source.config_path = json_of(onnx);
  auto file = std::make_unique<MappedFile>(onnx);
  auto model = std::make_shared<OnnxModel>();
  model->where = onnx.string();
  model->bytes = file->bytes().size();
  const WorkBudget budget(model->where, model->bytes);
  model->graph = parse_onnx(file->bytes(), model->where);
  for (const auto& [name, tensor] : model->graph.initializers) {
    if (!tensor.external.empty()) fail("{}: tensor {} is in another file", model->where, shown(name));
  }
  source.files.push_back(std::move(file));
  json config = VoiceJson(source.config_path).config();
  read_piper_graph(model, config, source.tensors);
  source.config = std::make_shared<const json>(std::move(config));
  return source;
}

}  // namespace mote::convert
