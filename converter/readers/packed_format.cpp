// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "converter/readers/packed_checkpoint.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint64_t kMostColumns = 1u << 30;

/// The keys of an object, each of which has to be asked for or known to change nothing.
class Keys {
 public:
  Keys(const JsonFile& file, const json& object, std::string where)
      : file_(file), object_(object), where_(std::move(where)) {}

  const json* find(const char* key) {
    known_.insert(key);
    return file_.find(object_, key);
  }
  std::string text(const char* key, const std::string& otherwise) {
    known_.insert(key);
    return file_.text(object_, key, otherwise);
  }
  bool flag(const char* key, bool otherwise) {
    known_.insert(key);
    return file_.flag(object_, key, otherwise);
  }
  uint64_t size(const char* key, uint64_t otherwise) {
    known_.insert(key);
    return file_.optional_size(object_, key, kMostColumns).value_or(otherwise);
  }
  /// A group's columns; -1 and null: all of a row.
  uint32_t group() {
    const json* value = find("group_size");
    if (value == nullptr || *value == json(-1)) return 0;
    const uint64_t columns = size("group_size", 0);
    if (columns == 0) refuse("group_size");
    return static_cast<uint32_t>(columns);
  }
  /// Must be absent, null, false or empty.
  void require_none(const char* key) {
    const json* value = find(key);
    if (value != nullptr && !value->empty() && *value != json(false)) refuse(key);
  }
  void require(bool holds, const char* key) {
    known_.insert(key);
    if (!holds) refuse(key);
  }
  void ignore(std::initializer_list<const char*> keys) { known_.insert(keys.begin(), keys.end()); }
  /// Fails for a key that nobody has named and that says something.
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      const bool empty = (value.is_structured() || value.is_string()) && value.empty();
      if (known_.count(key) == 0 && !value.is_null() && !empty && value != json(false)) refuse(key);
    }
  }
  [[noreturn]] void refuse(const std::string& key) const {
    const auto value = object_.find(key);
    file_.refuse("{}.{} {} is not read; give the directory of the unquantized model", where_, shown(key),
                 value == object_.end() ? "missing" : shown(value->dump()));
  }

 private:
  const JsonFile& file_;
  const json& object_;
  std::string where_;
  std::set<std::string> known_;
};

/// GPTQModel's rules by module: "-:" leaves modules out, which then are not packed; others may say what
/// changes no number that is read.
bool leaves_numbers(const json& rules, const PackedFormat& format) {
  if (!rules.is_object()) return false;
  constexpr std::array kOfCalibration = {"desc_act",     "sym", "act_group_aware",
                                         "damp_percent", "mse", "static_groups"};
  for (const auto& [pattern, rule] : rules.items()) {
    if (pattern.starts_with("-:")) continue;
    if (!rule.is_object()) return false;
    for (const auto& [key, value] : rule.items()) {
      const bool same = (key == "bits" && value == json(format.bits)) ||
                        (key == "group_size" && value == (format.group == 0 ? json(-1) : json(format.group)));
      const bool neutral =
          std::find(kOfCalibration.begin(), kOfCalibration.end(), key) != kOfCalibration.end();
      if (!same && !neutral) return false;
    }
  }
  return true;
}

PackedFormat gptq_format(Keys keys) {
  PackedFormat format{PackedMethod::gptq};
  format.bits = static_cast<uint32_t>(keys.size("bits", 0));
  keys.require(format.bits == 2 || format.bits == 4 || format.bits == 8, "bits");
  format.group = keys.group();
  const std::string layout = keys.text("checkpoint_format", keys.text("format", "gptq"));
  keys.require(layout == "gptq" || layout == "gptq_v2", "checkpoint_format");
  format.zeros_less_one = layout == "gptq";
  keys.require(keys.text("pack_dtype", "int32") == "int32", "pack_dtype");
  if (const json* rules = keys.find("dynamic")) keys.require(leaves_numbers(*rules, format), "dynamic");
  keys.require_none("adapter");
  keys.ignore({"quant_method",
               "method",
               "format",
               "desc_act",
               "act_group_aware",
               "sym",
               "lm_head",
               "damp_percent",
               "damp_auto_increment",
               "static_groups",
               "true_sequential",
               "model_name_or_path",
               "model_file_base_name",
               "meta",
               "dataset",
               "tokenizer",
               "block_name_to_quantize",
               "module_name_preceding_first_block",
               "modules_in_block_to_quantize",
               "batch_size",
               "pad_token_id",
               "use_cuda_fp16",
               "model_seqlen",
               "max_input_length",
               "exllama_config",
               "use_exllama",
               "disable_exllama",
               "cache_block_outputs",
               "backend",
               "mse",
               "is_marlin_format"});
  keys.finish();
  return format;
}

PackedFormat awq_format(Keys keys) {
  PackedFormat format{PackedMethod::awq};
  format.bits = static_cast<uint32_t>(keys.size("bits", keys.size("w_bit", 4)));
  keys.require(format.bits == 4, "bits");
  format.group = keys.find("q_group_size") == nullptr ? keys.group()
                                                      : static_cast<uint32_t>(keys.size("q_group_size", 0));
  if (const json* rules = keys.find("dynamic")) keys.require(leaves_numbers(*rules, format), "dynamic");
  keys.require(keys.text("pack_dtype", "int32") == "int32", "pack_dtype");
  std::string layout;
  for (const char* key : {"format", "checkpoint_format", "version"}) {
    std::string named = keys.text(key, "");
    std::transform(named.begin(), named.end(), named.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (named.empty()) continue;
    keys.require((named == "gemm" || named == "gemv") && (layout.empty() || named == layout), key);
    layout = named;
  }
  format.by_outputs = layout == "gemv";
  // Symmetric ones have their zeros in the file as others do.
  keys.ignore({"quant_method",
               "method",
               "zero_point",
               "modules_to_not_convert",
               "backend",
               "do_fuse",
               "fuse_max_seq_len",
               "modules_to_fuse",
               "exllama_config",
               "desc_act",
               "act_group_aware",
               "sym",
               "lm_head",
               "damp_percent",
               "true_sequential",
               "meta",
               "dataset",
               "tokenizer",
               "batch_size",
               "cache_block_outputs",
               "model_seqlen",
               "block_name_to_quantize",
               "module_name_preceding_first_block",
               "modules_in_block_to_quantize"});
  keys.finish();
  return format;
}

/// The rows and columns of a block.
std::optional<std::pair<uint32_t, uint32_t>> read_block(const json* block) {
  const auto is_side = [](const json& side) {
    return side.is_number_unsigned() && side.get<uint64_t>() >= 1 && side.get<uint64_t>() <= kMostColumns;
  };
  if (block == nullptr || !block->is_array() || block->size() != 2 || !is_side((*block)[0]) ||
      !is_side((*block)[1]))
    return std::nullopt;
  return std::pair((*block)[0].get<uint32_t>(), (*block)[1].get<uint32_t>());
}

PackedFormat fp8_format(Keys keys) {
  PackedFormat format{PackedMethod::fp8};
  keys.require(keys.text("fmt", "e4m3") == "e4m3", "fmt");
  const std::string scheme = keys.text("activation_scheme", "dynamic");
  keys.require(scheme == "dynamic" || scheme == "static", "activation_scheme");
  format.fixed_scales = format.rounds_to_floats = scheme == "static";
  if (const json* block = keys.find("weight_block_size")) {
    const auto sides = read_block(block);
    if (!sides) keys.refuse("weight_block_size");
    std::tie(format.block_rows, format.block_columns) = *sides;
  }
  format.rounds_activations = true;
  keys.require(keys.text("expert_dtype", "fp8") == "fp8", "expert_dtype");
  keys.ignore({"quant_method", "modules_to_not_convert", "modules_to_convert", "scale_fmt", "dequantize"});
  keys.finish();
  return format;
}

/// Reads how inputs are rounded: with a scale for each row, or by one of the file.
void read_activations(const JsonFile& file, const json* activations, PackedFormat& format) {
  if (activations == nullptr) return;
  if (!activations->is_object()) file.refuse_value("input_activations", activations, "an object");
  Keys keys(file, *activations, "quantization_config.input_activations");
  format.rounds_activations = true;
  format.fixed_scales = !keys.flag("dynamic", false);
  keys.require(keys.size("num_bits", 8) == 8, "num_bits");
  const std::string type = keys.text("type", "int");
  format.rounds_to_floats = type == "float";
  keys.require(type == "float" || type == "int", "type");
  const bool symmetric = keys.flag("symmetric", true);
  keys.require(symmetric || (format.fixed_scales && !format.rounds_to_floats), "symmetric");
  if (format.fixed_scales) keys.require(keys.text("strategy", "tensor") == "tensor", "strategy");
  keys.ignore({"strategy", "group_size", "block_structure", "actorder", "observer", "observer_kwargs",
               "scale_dtype", "zp_dtype"});
  keys.finish();
}

void read_weights_scheme(Keys keys, const std::string& layout, PackedFormat& format) {
  const std::string type = keys.text("type", "int"), strategy = keys.text("strategy", "tensor");
  const bool floats = layout == "float-quantized";
  format.method = floats                       ? PackedMethod::compressed_fp8
                  : layout == "pack-quantized" ? PackedMethod::compressed_integers
                                               : PackedMethod::compressed_bytes;
  format.bits = static_cast<uint32_t>(keys.size("num_bits", 8));
  const bool packs = format.method == PackedMethod::compressed_integers;
  keys.require(format.bits == 8 || (packs && format.bits == 4), "num_bits");
  keys.require(type == (floats ? "float" : "int"), "type");
  format.group = keys.group();
  const bool grouped = strategy == "group" && format.group != 0 && !floats;
  const bool rows = (strategy == "channel" || strategy == "tensor") && format.group == 0;
  const bool blocks = strategy == "block" && format.group == 0 && floats;
  if (blocks) {
    const auto sides = read_block(keys.find("block_structure"));
    if (!sides) keys.refuse("block_structure");
    std::tie(format.block_rows, format.block_columns) = *sides;
  } else {
    keys.require_none("block_structure");
  }
  keys.require(grouped || rows || blocks, "strategy");
  keys.require(keys.flag("symmetric", true) || packs, "symmetric");
  keys.require(!keys.flag("dynamic", false), "dynamic");
  keys.ignore({"actorder", "observer", "observer_kwargs", "scale_dtype", "zp_dtype"});
  keys.finish();
}

PackedFormat compressed_format(const JsonFile& file, const json& config) {
  Keys keys(file, config, "quantization_config");
  const json& groups = file.object(config, "config_groups");
  keys.require(groups.size() == 1 && groups.begin()->is_object(), "config_groups");
  const json& scheme = *groups.begin();
  Keys of_scheme(file, scheme, "quantization_config.config_groups");
  std::string layout = keys.text("format", "");
  layout = of_scheme.text("format", layout);
  keys.require(layout == "pack-quantized" || layout == "int-quantized" || layout == "float-quantized",
               "format");
  PackedFormat format;
  read_weights_scheme(Keys(file, file.object(scheme, "weights"), "quantization_config.weights"), layout,
                      format);
  read_activations(file, of_scheme.find("input_activations"), format);
  of_scheme.require_none("output_activations");
  of_scheme.ignore({"targets", "weights"});
  of_scheme.finish();
  keys.require_none("kv_cache_scheme");
  keys.require_none("transform_config");
  if (const json* sparsity = keys.find("sparsity_config"))
    keys.require(sparsity->empty() || (sparsity->is_object() && sparsity->contains("format") &&
                                       (*sparsity)["format"] == json("dense")),
                 "sparsity_config");
  keys.require(keys.text("quantization_status", "compressed") == "compressed", "quantization_status");
  keys.ignore({"quant_method", "config_groups", "ignore", "global_compression_ratio", "version"});
  keys.finish();
  return format;
}

/// BitNet's matrices as they were trained, which are rounded as they are used.
PackedFormat online_ternary(const json& object) {
  PackedFormat format{PackedMethod::online_ternary};
  const auto kept = object.find("modules_to_not_convert");
  for (const json& name : kept != object.end() && kept->is_array() ? *kept : json::array())
    if (name.is_string()) format.plain_modules.push_back(name.get<std::string>());
  return format;
}

}  // namespace

PackedFormat read_packed_format(const json& config, const std::string& path) {
  const JsonFile file(path);
  if (file.find(config, "quantization_config") == nullptr) return {};
  const json& object = file.object(config, "quantization_config");
  const std::string method = file.text(object, "quant_method", "");
  const Keys keys(file, object, "quantization_config");
  const auto is = [&](const char* key, const char* value) {
    return object.contains(key) && object[key] == json(value);
  };
  if (method == "bitnet" && object.contains("use_rms_norm") && object["use_rms_norm"] != json(false))
    keys.refuse("use_rms_norm");
  if (method == "bitnet" && is("quantization_mode", "offline") &&
      (is("linear_class", "bitlinear") || is("linear_class", "autobitlinear")))
    return {PackedMethod::ternary};
  if (method == "bitnet" && is("quantization_mode", "online") && is("linear_class", "autobitlinear"))
    return online_ternary(object);
  if (method == "bitsandbytes") return {PackedMethod::left_over};
  if (method == "gptq") return gptq_format(keys);
  if (method == "awq") return awq_format(keys);
  if (method == "fp8") return fp8_format(keys);
  if (method == "compressed-tensors") return compressed_format(file, object);
  keys.refuse("quant_method");
}

}  // namespace mote::convert
