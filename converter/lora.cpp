// SPDX-License-Identifier: Apache-2.0
#include "converter/lora.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/readers/json_file.h"
#include "converter/readers/json_text.h"
#include "converter/readers/pickle.h"
#include "converter/readers/safetensors.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMostRank = 1u << 16;
constexpr int kAdapterDepth = 16;

struct AdapterConfig {
  double alpha = 0;
  uint64_t rank = 0;
  bool rslora = false, dora = false, fan_in_fan_out = false;
  std::vector<std::pair<std::string, double>> alphas;
  std::vector<std::pair<std::string, uint64_t>> ranks;
};

/// Whether a key of alpha_pattern or rank_pattern is the module's name, or its end behind a dot.
bool names_module(std::string key, const std::string& module) {
  const bool whole = key.starts_with('^');
  if (whole) key.erase(0, 1);
  if (key == module) return true;
  return !whole && module.ends_with("." + key);
}

class ConfigReader {
 public:
  ConfigReader(const fs::path& path) : file_(path.string()), object_(read_json_object(path, kAdapterDepth)) {}

  AdapterConfig read() {
    if (file_.text(object_, "peft_type") != "LORA")
      file_.refuse_value("peft_type", file_.find(object_, "peft_type"), "LORA");
    AdapterConfig config;
    config.rank = file_.size(require("r"), "r", kMostRank);
    config.alpha = number(require("lora_alpha"), "lora_alpha");
    config.rslora = file_.flag(object_, "use_rslora", false);
    config.dora = file_.flag(object_, "use_dora", false);
    config.fan_in_fan_out = file_.flag(object_, "fan_in_fan_out", false);
    for (const auto& [key, value] : patterns("alpha_pattern").items())
      config.alphas.emplace_back(plain(key), number(value, key));
    for (const auto& [key, value] : patterns("rank_pattern").items())
      config.ranks.emplace_back(plain(key), file_.size(value, key, kMostRank));
    require_known();
    return config;
  }

 private:
  const json& require(const char* key) {
    const json* value = file_.find(object_, key);
    if (value == nullptr) file_.refuse_value(key, nullptr, "a number");
    return *value;
  }
  double number(const json& value, std::string_view key) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      file_.refuse_value(key, &value, "a number");
    return value.get<double>();
  }
  const json& patterns(const char* key) {
    static const json kNone = json::object();
    return file_.find(object_, key) == nullptr ? kNone : file_.object(object_, key);
  }
  /// Patterns are regular expressions; those that are a name are read.
  std::string plain(const std::string& key) {
    if (key.find_first_of("*+?[](){}|\\$", 0) != std::string::npos || key.find('^', 1) != std::string::npos)
      file_.refuse("the pattern \"{}\" is more than a module's name, which is not read", shown(key));
    return key;
  }
  /// Refuses keys that change what the adapter means, and those that nobody knows.
  void require_known() {
    static const std::set<std::string> kRead = {"peft_type",     "r",           "lora_alpha",
                                                "use_rslora",    "use_dora",    "fan_in_fan_out",
                                                "alpha_pattern", "rank_pattern"};
    static const std::set<std::string> kHarmless = {"auto_mapping",
                                                    "base_model_name_or_path",
                                                    "revision",
                                                    "inference_mode",
                                                    "lora_dropout",
                                                    "task_type",
                                                    "target_modules",
                                                    "exclude_modules",
                                                    "layers_to_transform",
                                                    "layers_pattern",
                                                    "peft_version",
                                                    "loftq_config",
                                                    "eva_config",
                                                    "corda_config",
                                                    "lora_ga_config",
                                                    "runtime_config",
                                                    "qalora_group_size",
                                                    "ensure_weight_tying",
                                                    "monteclora_config"};
    for (const auto& [key, value] : object_.items()) {
      if (kRead.count(key) != 0 || kHarmless.count(key) != 0 || value.is_null()) continue;
      if (key == "bias" && value == json("none")) continue;
      // Others change the weights that the adapter is trained beside.
      if (key == "init_lora_weights" && (value.is_boolean() || value == json("gaussian") ||
                                         value == json("eva") || value == json("orthogonal")))
        continue;
      if (value == json(false) || (value.is_structured() && value.empty())) continue;
      file_.refuse("{} {} is not read: merge the adapter with peft (merge_and_unload)", shown(key),
                   shown(value.dump()));
    }
  }

  JsonFile file_;
  json object_;
};

/// A weight with an adapter's product.
struct MergedRows : RowReader {
  SourceTensor base;
  bool transposed = false;
  float factor = 0;
  std::vector<float> magnitude;           // of DoRA, [out]; or empty
  std::vector<float> a_values, b_values;  // [r, in], [out, r]
  uint64_t rank = 0;

  void read(uint64_t row, std::span<float> out) const override {
    read_row(base, row, out);
    std::vector<double> sum(out.size());
    for (uint64_t j = 0; j < rank; ++j) {
      const uint64_t outputs = b_values.size() / rank, inputs = a_values.size() / rank;
      if (transposed) {
        const double left = static_cast<double>(a_values[j * inputs + row]);
        for (uint64_t k = 0; k < outputs; ++k) sum[k] += left * static_cast<double>(b_values[k * rank + j]);
      } else {
        const double left = static_cast<double>(b_values[row * rank + j]);
        for (uint64_t k = 0; k < inputs; ++k) sum[k] += left * static_cast<double>(a_values[j * inputs + k]);
      }
    }
    double square = 0;
    for (size_t k = 0; k < out.size(); ++k) {
      out[k] = static_cast<float>(static_cast<double>(out[k]) + static_cast<double>(factor) * sum[k]);
      square += static_cast<double>(out[k]) * static_cast<double>(out[k]);
    }
    if (magnitude.empty() || square == 0) return;
    const double stretch = static_cast<double>(magnitude[row]) / std::sqrt(square);
    for (float& value : out) value = static_cast<float>(stretch * static_cast<double>(value));
  }
};

std::vector<float> values_of(const SourceTensor& tensor, const std::string& name) {
  std::vector<float> values(tensor.rows() * tensor.cols());
  for (uint64_t row = 0; row < tensor.rows(); ++row)
    read_row(tensor, row, std::span(values).subspan(row * tensor.cols(), tensor.cols()));
  for (const float value : values) {
    if (!std::isfinite(value)) fail("adapter tensor {} holds {}", shown(name), value);
  }
  return values;
}

class Adapter {
 public:
  Adapter(Source& source, const fs::path& directory, float strength)
      : source_(source),
        directory_(directory),
        config_(ConfigReader(directory / "adapter_config.json").read()),
        strength_(strength) {}

  void merge() {
    read_tensors();
    size_t merged = 0;
    for (const auto& [name, tensor] : tensors_) {
      const bool linear = name.ends_with(kA), embedding = name.ends_with(kEmbeddingA);
      if (!linear && !embedding) continue;
      merge_pair(name, embedding);
      ++merged;
    }
    if (merged == 0) fail("{} has no lora_A tensors", directory_.string());
    for (const auto& [name, tensor] : tensors_) {
      if (used_.count(name) == 0) fail("{}: adapter tensor {} is not read", directory_.string(), shown(name));
    }
  }

 private:
  static constexpr std::string_view kPrefix = "base_model.model.", kA = ".lora_A.weight",
                                    kEmbeddingA = ".lora_embedding_A";

  void read_tensors() {
    static const std::map<std::string, SourceType> kTypes = {
        {"F32", SourceType::f32}, {"F16", SourceType::f16}, {"BF16", SourceType::bf16}};
    const fs::path safe = directory_ / "adapter_model.safetensors", bin = directory_ / "adapter_model.bin";
    std::error_code none;
    const bool is_safe = fs::exists(safe, none);
    if (!is_safe && !fs::exists(bin, none)) fail("{} has no adapter_model.safetensors", directory_.string());
    const fs::path& path = is_safe ? safe : bin;
    auto file = std::make_unique<MappedFile>(path);
    for (const auto& [name, tensor] : is_safe ? parse_safetensors(file->bytes(), path.string())
                                              : parse_pytorch(file->bytes(), path.string())) {
      const auto type = kTypes.find(tensor.dtype);
      if (type == kTypes.end())
        fail("{}: tensor {} is {}, read are F32, F16 and BF16", path.string(), shown(name), tensor.dtype);
      tensors_[name] = {type->second, tensor.shape, tensor.bytes.data(), tensor.bytes.size()};
    }
    source_.files.push_back(std::move(file));
  }

  const SourceTensor& take(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) fail("{}: adapter tensor {} is missing", directory_.string(), shown(name));
    used_.insert(name);
    return found->second;
  }

  SourceTensor& weight_of(const std::string& module, const std::string& name) {
    const auto found = source_.tensors.find(module + ".weight");
    if (found != source_.tensors.end()) return found->second;
    // Checkpoints of a model without its head lack the first part of the names.
    const auto shorter = source_.tensors.find(module.substr(module.find('.') + 1) + ".weight");
    if (shorter != source_.tensors.end()) return shorter->second;
    fail("{}: adapter tensor {} fits no weight of the model", directory_.string(), shown(name));
  }

  /// Of the pattern that names the module; peft takes the first of several, whose order JSON does not keep.
  template <class Value>
  std::optional<Value> pattern_value(const std::vector<std::pair<std::string, Value>>& patterns,
                                     const std::string& module) {
    std::optional<Value> found;
    for (const auto& [key, value] : patterns) {
      if (!names_module(key, module)) continue;
      if (found && *found != value)
        fail("{}: several patterns name {}", (directory_ / "adapter_config.json").string(), shown(module));
      found = value;
    }
    return found;
  }

  float factor_of(const std::string& module, uint64_t rank, const std::string& name) {
    const uint64_t expected = pattern_value(config_.ranks, module).value_or(config_.rank);
    const double alpha = pattern_value(config_.alphas, module).value_or(config_.alpha);
    if (rank != expected || rank == 0)
      fail("{}: adapter tensor {} has the rank {}, the config says {}", directory_.string(), shown(name),
           rank, expected);
    const double divisor = config_.rslora ? std::sqrt(static_cast<double>(rank)) : static_cast<double>(rank);
    return static_cast<float>(static_cast<double>(strength_) * alpha / divisor);
  }

  void merge_pair(const std::string& a_name, bool embedding) {
    const std::string stem = a_name.substr(0, a_name.size() - (embedding ? kEmbeddingA : kA).size());
    if (!stem.starts_with(kPrefix))
      fail("{}: adapter tensor {} does not begin with {}", directory_.string(), shown(a_name), kPrefix);
    const std::string module = stem.substr(kPrefix.size());
    const std::string b_name = stem + (embedding ? ".lora_embedding_B" : ".lora_B.weight");
    const SourceTensor& a = take(a_name);
    const SourceTensor& b = take(b_name);
    SourceTensor& weight = weight_of(module, a_name);
    auto merged = std::make_shared<MergedRows>();
    merged->transposed = embedding || (config_.fan_in_fan_out && !weight.is_linear);
    const uint64_t inputs = merged->transposed ? weight.rows() : weight.cols();
    const uint64_t outputs = merged->transposed ? weight.cols() : weight.rows();
    if (weight.shape.size() != 2 || a.shape.size() != 2 || b.shape.size() != 2 || a.cols() != inputs ||
        b.rows() != outputs || a.rows() != b.cols())
      fail("{}: adapter tensors {} [{}] and {} [{}] do not fit the weight [{}]", directory_.string(),
           shown(a_name), fmt::join(a.shape, ", "), shown(b_name), fmt::join(b.shape, ", "),
           fmt::join(weight.shape, ", "));
    merged->rank = a.rows();
    merged->factor = factor_of(module, a.rows(), a_name);
    merged->a_values = values_of(a, a_name);
    merged->b_values = values_of(b, b_name);
    if (config_.dora) add_magnitude(stem, *merged, outputs);
    merged->base = weight;
    weight.reader = std::move(merged);
    weight.reader_row = 0;
    weight.interleaved_heads = 0;
  }

  void add_magnitude(const std::string& stem, MergedRows& merged, uint64_t outputs) {
    const std::string plain = stem + ".lora_magnitude_vector";
    const std::string name = tensors_.count(plain) != 0 ? plain : plain + ".weight";
    const SourceTensor& magnitude = take(name);
    if (merged.transposed || strength_ != 1.0f)
      fail("{}: use_dora is read for matrices [outputs, inputs] and at the scale 1 only",
           directory_.string());
    if (magnitude.rows() * magnitude.cols() != outputs)
      fail("{}: adapter tensor {} does not fit its weight", directory_.string(), shown(name));
    merged.magnitude = values_of(magnitude, name);
  }

  Source& source_;
  fs::path directory_;
  AdapterConfig config_;
  float strength_;
  std::map<std::string, SourceTensor> tensors_;
  std::set<std::string> used_;
};

}  // namespace

void merge_adapter(Source& source, const fs::path& directory, float strength) {
  std::error_code none;
  if (!fs::exists(directory / "adapter_config.json", none))
    fail("{} has no adapter_config.json: expected a LoRA adapter's directory", directory.string());
  Adapter(source, directory, strength).merge();
  source.notes.push_back(fmt::format("merged the adapter {} at the scale {}", directory.string(), strength));
}

AdapterArgument parse_adapter(const std::string& text) {
  const size_t equals = text.rfind('=');
  std::error_code none;
  if (equals == std::string::npos || fs::is_directory(text, none)) return {text, 1.0f};
  float strength = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + equals + 1, end, strength);
  if (error != std::errc() || at != end || !std::isfinite(strength))
    fail("--lora {}: the scale behind '=' is no number", text);
  return {text.substr(0, equals), strength};
}

}  // namespace mote::convert
