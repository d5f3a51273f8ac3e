// SPDX-License-Identifier: Apache-2.0
//
// Reads the files that a sentence-transformers directory adds to a Hugging Face one: modules.json lists a
// transformer, a pooling, perhaps linears and a normalization, each with a folder of its own; for a cross
// encoder the transformer alone, or a decoder and the two of its logits that make the score. Versions 2 to 6
// of the library.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kJsonDepth = 16;

/// An empty object where there is no file.
json read_json(const fs::path& path, bool required = true) {
  return required ? read_json_object(path, kJsonDepth) : read_optional_json_object(path, kJsonDepth);
}

PoolKind pool_kind(const std::string& name, const JsonFile& file) {
  if (name == "cls") return PoolKind::first;
  if (name == "max") return PoolKind::max;
  if (name == "mean") return PoolKind::mean;
  if (name == "lasttoken") return PoolKind::last;
  file.refuse("pooling mode {} is not supported; cls, max, mean and lasttoken are", shown(name));
}

/// In the order in which the vectors stand side by side.
std::vector<PoolKind> read_pooling(const fs::path& path, bool& pools_prompt) {
  const json config = read_json(path);
  const JsonFile file(path.string());
  pools_prompt = file.flag(config, "include_prompt", true);
  std::vector<PoolKind> kinds;
  const json* modes = file.find(config, "pooling_mode");
  if (modes != nullptr && modes->is_array()) {
    for (const json& mode : *modes) {
      if (!mode.is_string()) file.refuse_value("pooling_mode", &mode, "a text");
      kinds.push_back(pool_kind(mode.get<std::string>(), file));
    }
  } else if (modes != nullptr) {
    kinds.push_back(pool_kind(file.text(config, "pooling_mode"), file));
  } else {
    constexpr std::pair<const char*, const char*> kFlags[] = {
        {"cls_token", "cls"},
        {"max_tokens", "max"},
        {"mean_tokens", "mean"},
        {"mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
        {"weightedmean_tokens", "weightedmean_tokens"},
        {"lasttoken", "lasttoken"}};
    for (const auto& [flag, name] : kFlags) {
      if (file.flag(config, std::string("pooling_mode_") + flag, false))
        kinds.push_back(pool_kind(name, file));
    }
  }
  if (kinds.empty()) file.refuse("no pooling mode is set");
  return kinds;
}

SentencePooling::Dense read_dense(const fs::path& path, const std::string& folder) {
  const json config = read_json(path);
  const JsonFile file(path.string());
  const std::string full = file.text(config, "activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = full.substr(full.rfind('.') + 1);
  const std::map<std::string, Activation> known = {{"Tanh", Activation::tanh},
                                                   {"Identity", Activation::none},
                                                   {"ReLU", Activation::relu},
                                                   {"GELU", Activation::gelu},
                                                   {"SiLU", Activation::silu}};
  const auto activation = known.find(name);
  if (activation == known.end() || !full.starts_with("torch.nn."))
    file.refuse("activation_function {} is not supported; Tanh, Identity, ReLU, GELU and SiLU are",
                shown(full));
  if (file.flag(config, "use_residual", false)) file.refuse("use_residual is not supported");
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const std::string value = file.text(config, key, "sentence_embedding");
    if (value != "sentence_embedding") file.refuse("{} {} is not supported", key, shown(value));
  }
  const auto width = file.optional_size(config, "out_features", std::numeric_limits<int32_t>::max());
  if (!width || *width == 0) file.refuse("out_features is missing or 0");
  return {folder + ".linear", activation->second, static_cast<uint32_t>(*width),
          file.flag(config, "bias", true)};
}

/// The last word of "sentence_transformers.models.Pooling".
std::string kind_of(const JsonFile& file, const json& module) {
  const std::string type = file.text(module, "type");
  return type.substr(type.rfind('.') + 1);
}

LogitScore read_logit_score(const fs::path& path) {
  const json config = read_json(path);
  const JsonFile file(path.string());
  const std::string input = file.text(config, "module_input_name", "causal_logits");
  if (input != "causal_logits") file.refuse("module_input_name {} is not supported", shown(input));
  const auto id = [&](const char* key) -> std::optional<uint32_t> {
    if (const auto value = file.optional_size(config, key, std::numeric_limits<int32_t>::max()))
      return static_cast<uint32_t>(*value);
    return std::nullopt;
  };
  const auto more = id("true_token_id");
  if (!more) file.refuse("true_token_id is missing");
  return {*more, id("false_token_id")};
}

/// Reads whether pairs of a cross encoder that versions from 5.4 on saved go through the chat template, and
/// how.
std::optional<PairMessages> read_pair_messages(const json& config, const JsonFile& file) {
  if (file.find(config, "modality_config") == nullptr) return std::nullopt;
  const json& modalities = file.object(config, "modality_config");
  if (file.find(modalities, "message") == nullptr) return std::nullopt;
  PairMessages messages;
  const std::string format = file.text(file.object(modalities, "message"), "format", "structured");
  if (format != "flat" && format != "structured")
    file.refuse("messages of format {} are not known", shown(format));
  messages.parts = format == "structured";
  if (file.find(config, "processing_kwargs") == nullptr) return messages;
  const json& settings = file.object(config, "processing_kwargs");
  if (file.find(settings, "chat_template") == nullptr) return messages;
  constexpr std::array kOfTokens = {"padding", "truncation", "max_length", "return_tensors",
                                    "restore_suffix"};
  for (const auto& [key, value] : file.object(settings, "chat_template").items()) {
    const bool of_tokens = std::find(kOfTokens.begin(), kOfTokens.end(), key) != kOfTokens.end();
    if (!of_tokens) messages.variables.emplace_back(key, value);
  }
  return messages;
}

/// Where versions keep the most tokens of a text; 0: nowhere.
void read_settings(const fs::path& transformer, SentenceModules& found) {
  std::error_code ignored;
  for (const char* model : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const fs::path path = transformer / fmt::format("sentence_{}_config.json", model);
    if (!fs::exists(path, ignored)) continue;
    const json config = read_json(path);
    const JsonFile file(path.string());
    const auto most = file.optional_size(config, "max_seq_length").value_or(0);
    found.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(most, UINT32_MAX));
    found.lowercase = file.flag(config, "do_lower_case", false);
    if (!found.pooling) found.pair_messages = read_pair_messages(config, file);
    break;
  }
  if (found.max_tokens != 0) return;
  const json tokenizer = read_json(transformer / "tokenizer_config.json", false);
  const auto most = tokenizer.find("model_max_length");  // a huge number for none
  if (most != tokenizer.end() && most->is_number_unsigned() && *most <= INT32_MAX)
    found.max_tokens = most->get<uint32_t>();
}

void read_library_config(const fs::path& directory, SentenceModules& found) {
  const fs::path path = directory / "config_sentence_transformers.json";
  const json config = read_json(path, false);
  const JsonFile file(path.string());
  found.label_activation = file.text(config, "activation_fn", "");
  found.similarity = file.text(config, "similarity_fn_name", "");
  constexpr std::array kSimilarities = {"", "cosine", "dot", "euclidean", "manhattan"};
  if (std::find(kSimilarities.begin(), kSimilarities.end(), found.similarity) == kSimilarities.end())
    file.refuse("similarity_fn_name is \"{}\"; cosine, dot, euclidean and manhattan are known",
                shown(found.similarity));
  constexpr std::array kRead = {"activation_fn", "similarity_fn_name", "default_prompt_name",
                                "prompts",       "__version__",        "model_type"};
  for (const auto& [key, value] : config.items()) {
    if (!value.is_null() && std::find(kRead.begin(), kRead.end(), key) == kRead.end())
      found.unread.push_back(key);
  }
  const std::string name = file.text(config, "default_prompt_name", "");
  if (file.find(config, "prompts") == nullptr) return;
  for (const auto& [key, value] : file.object(config, "prompts").items()) {
    if (!value.is_string()) {
      if (value.is_null()) continue;
      file.refuse_value("prompts." + key, &value, "a text");
    }
    if (key == name) found.default_prompt = static_cast<int32_t>(found.prompts.size());
    found.prompts.push_back({key, value.get<std::string>()});
  }
  const bool is_known = found.default_prompt != -1 || name == "query" || name == "document";
  if (!name.empty() && !is_known) file.refuse("default_prompt_name {} is none of the prompts", shown(name));
  const bool has_default =
      found.default_prompt != -1 && !found.prompts[static_cast<size_t>(found.default_prompt)].text.empty();
  if (has_default && found.pair_messages) {
    found.pair_messages->instruction = found.prompts[static_cast<size_t>(found.default_prompt)].text;
  } else if (has_default && !found.pooling) {
    file.refuse("default_prompt_name {} of a cross encoder is not supported", shown(name));
  }
  if (has_default && found.pooling && !found.pools_prompt) {
    file.refuse(
        "default_prompt_name {} with a pooling without the prompt (include_prompt false) is not supported",
        shown(name));
  }
}

/// Takes modules in their order.
class ModuleReader {
 public:
  ModuleReader(const fs::path& directory, const JsonFile& file) : directory_(directory), file_(file) {}

  void read(const json& module) {
    if (!module.is_object()) file_.refuse("a module is {}, expected an object", shown(module.dump()));
    const std::string kind = kind_of(file_, module), folder = file_.text(module, "path", "");
    if (folder.find("..") != std::string::npos || fs::path(folder).is_absolute())
      file_.refuse("module folder '{}' lies outside the directory", folder);
    if (kind == "Transformer" && stage_ == kNothing) {
      found.transformer = directory_ / folder;
      stage_ = kTransformer;
    } else if (kind == "LogitScore" && stage_ == kTransformer) {
      found.logit_score = read_logit_score(directory_ / folder / "config.json");
      stage_ = kScored;
    } else if (kind == "Pooling" && stage_ == kTransformer) {
      std::vector<PoolKind> kinds = read_pooling(directory_ / folder / "config.json", found.pools_prompt);
      found.pooling.emplace().kind = kinds.front();
      found.pooling->more_kinds.assign(kinds.begin() + 1, kinds.end());
      stage_ = kPooled;
    } else if (kind == "Dense" && stage_ == kPooled) {
      found.pooling->dense.push_back(read_dense(directory_ / folder / "config.json", folder));
      found.dense_folders.push_back(directory_ / folder);
    } else if (kind == "Normalize" && stage_ == kPooled) {
      found.pooling->normalize = true;
      stage_ = kNormalized;
    } else {
      file_.refuse(
          "module {} is not supported here; Transformer, Pooling, Dense and Normalize are, in this order, "
          "and "
          "Transformer and LogitScore",
          shown(kind));
    }
  }

  SentenceModules found;

 private:
  enum Stage { kNothing, kTransformer, kScored, kPooled, kNormalized };

  const fs::path& directory_;
  const JsonFile& file_;
  Stage stage_ = kNothing;
};

}  // namespace

SentenceModules read_sentence_modules(const fs::path& directory) {
  const fs::path path = directory / "modules.json";
  const MappedFile mapped(path);
  const JsonFile file(path.string());
  ModuleReader reader(directory, file);
  for (const json& module : parse_json_array(mapped.bytes(), path.string(), kJsonDepth)) reader.read(module);
  SentenceModules& found = reader.found;
  if (found.transformer.empty()) file.refuse("no Transformer module");
  read_settings(found.transformer, found);
  read_library_config(directory, found);
  return std::move(found);
}

}  // namespace mote::convert
