// SPDX-License-Identifier: Apache-2.0
#include "converter/adapter_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMostRank = 1u << 16;
constexpr uint64_t kMostAdapterTokens = 1u << 24;
constexpr int kAdapterDepth = 16;

enum class Matter {
  read,      // by AdapterConfig or by the adapter's tensors
  training,  // read while the adapter is trained, never after
  result     // changes the results at other values than the default
};

/// A key of peft.LoraConfig and what it is where nobody sets it.
struct KnownKey {
  const char* key;
  const char* value;  // JSON; that of LoraConfig
  Matter matter;
};

// Those of LoraConfig().to_dict() of peft 0.21.2, in its order.
constexpr KnownKey kKnownKeys[] = {
    {"task_type", "null", Matter::read},
    {"peft_type", R"("LORA")", Matter::read},
    {"auto_mapping", "null", Matter::read},
    {"peft_version", R"("0.21.2")", Matter::read},
    {"base_model_name_or_path", "null", Matter::read},
    {"revision", "null", Matter::read},
    {"inference_mode", "false", Matter::read},
    {"r", "8", Matter::read},
    {"target_modules", "null", Matter::read},
    {"exclude_modules", "null", Matter::read},
    {"lora_alpha", "8", Matter::read},
    {"lora_dropout", "0.0", Matter::read},
    {"fan_in_fan_out", "false", Matter::read},
    {"bias", R"("none")", Matter::read},
    {"use_rslora", "false", Matter::read},
    {"modules_to_save", "null", Matter::read},
    {"init_lora_weights", "true", Matter::result},
    {"layers_to_transform", "null", Matter::read},
    {"layers_pattern", "null", Matter::read},
    {"rank_pattern", "{}", Matter::read},
    {"alpha_pattern", "{}", Matter::read},
    {"megatron_config", "null", Matter::result},
    {"megatron_core", R"("megatron.core")", Matter::training},
    {"trainable_token_indices", "null", Matter::read},
    {"loftq_config", "{}", Matter::training},
    {"eva_config", "null", Matter::training},
    {"corda_config", "null", Matter::training},
    {"lora_ga_config", "null", Matter::training},
    {"use_dora", "false", Matter::read},
    {"velora_config", "null", Matter::training},
    {"alora_invocation_tokens", "null", Matter::result},
    {"use_qalora", "false", Matter::result},
    {"qalora_group_size", "16", Matter::training},
    {"monteclora_config", "null", Matter::training},
    {"layer_replication", "null", Matter::result},
    {"lora_bias", "false", Matter::read},
    {"target_parameters", "null", Matter::result},
    {"use_bdlora", "null", Matter::result},
    {"arrow_config", "null", Matter::result},
    {"kasa_config", "null", Matter::result},
    {"ensure_weight_tying", "false", Matter::read},
    {"runtime_config", "{}", Matter::training},  // older versions
};

// Values of init_lora_weights that leave the base as it is; others change the weights beside the adapter.
constexpr const char* kPlainStarts[] = {"true",      R"("gaussian")", R"("eva")", R"("orthogonal")",
                                        R"("mica")", "false"};

bool is_plain_start(const json& value) {
  return std::any_of(std::begin(kPlainStarts), std::end(kPlainStarts),
                     [&](const char* one) { return value == json::parse(one); });
}

bool is_nothing(const json& value) {
  return value.is_null() || value == json(false) || (value.is_structured() && value.empty());
}

const KnownKey* find_known(const std::string& key) {
  for (const KnownKey& known : kKnownKeys) {
    if (key == known.key) return &known;
  }
  return nullptr;
}

class ConfigReader {
 public:
  ConfigReader(const fs::path& path, Source& source)
      : file_(path.string()), object_(read_json_object(path, kAdapterDepth)), source_(source) {}

  AdapterConfig read() {
    if (file_.text(object_, "peft_type") != "LORA")
      file_.refuse_value("peft_type", file_.find(object_, "peft_type"), "LORA");
    check_keys();
    AdapterConfig config;
    config.rank = file_.size(require("r"), "r", kMostRank);
    config.alpha = number(require("lora_alpha"), "lora_alpha");
    config.rslora = file_.flag(object_, "use_rslora", false);
    config.dora = file_.flag(object_, "use_dora", false);
    config.task = file_.text(object_, "task_type", "");
    for (const auto& [key, value] : patterns("alpha_pattern").items())
      config.alphas.emplace(plain(key), number(value, key));
    for (const auto& [key, value] : patterns("rank_pattern").items())
      config.ranks.emplace(plain(key), file_.size(value, key, kMostRank));
    read_whole(config);
    read_rows(config);
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
  void read_whole(AdapterConfig& config) {
    if (file_.find(object_, "modules_to_save") == nullptr) return;
    for (const json& name : file_.list(object_, "modules_to_save")) {
      if (!name.is_string()) file_.refuse_value("modules_to_save", &name, "names of modules");
      config.whole.push_back(name.get<std::string>());
    }
  }
  std::vector<uint64_t> indices(const json& list) {
    if (!list.is_array()) file_.refuse_value("trainable_token_indices", &list, "a list of token ids");
    std::vector<uint64_t> rows;
    for (const json& row : list) rows.push_back(file_.size(row, "trainable_token_indices", kMostAdapterTokens));
    return rows;
  }
  /// A list is of the embedding, an object has one for each module's name.
  void read_rows(AdapterConfig& config) {
    const json* value = file_.find(object_, "trainable_token_indices");
    if (value == nullptr) return;
    if (!value->is_object()) {
      config.embedding_rows = indices(*value);
      return;
    }
    for (const auto& [name, list] : value->items()) config.rows[name] = indices(list);
  }
  /// Refuses keys that change what the adapter means, and those that nobody knows.
  void check_keys() {
    std::vector<std::string> refused, unused;
    for (const auto& [key, value] : object_.items()) {
      if (is_nothing(value)) continue;
      const KnownKey* known = find_known(key);
      if (known != nullptr && (known->matter == Matter::read || value == json::parse(known->value))) continue;
      if (known != nullptr && known->matter == Matter::training) {
        unused.push_back(shown(key));
      } else if (!(key == "init_lora_weights" && is_plain_start(value)) &&
                 !source_.ignores("adapter_config." + key)) {
        refused.push_back(fmt::format("{} {}", shown(key), shown(value.dump())));
      }
    }
    if (!unused.empty())
      source_.notes.push_back(fmt::format("the adapter's {} {} the training alone, and changes nothing here",
                                          fmt::join(unused, ", "), unused.size() == 1 ? "is of" : "are of"));
    if (refused.empty()) return;
    file_.refuse(
        "not understood, and {} what the adapter means: {}. Merge the adapter with peft (merge_and_unload), "
        "or say that a key changes nothing (--ignore-key adapter_config.KEY)",
        refused.size() == 1 ? "it may change" : "they may change", fmt::join(refused, ", "));
  }

  JsonFile file_;
  json object_;
  Source& source_;
};

}  // namespace

AdapterConfig read_adapter_config(const fs::path& path, Source& source) {
  return ConfigReader(path, source).read();
}

}  // namespace mote::convert
