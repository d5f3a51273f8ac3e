// SPDX-License-Identifier: Apache-2.0
//
// A directory as Hugging Face's libraries save it: config.json, perhaps generation_config.json, and the
// weights in model.safetensors or pytorch_model.bin, in shards that an index beside it lists, or in an ONNX
// file.
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "converter/onnx/onnx_model.h"
#include "converter/readers/kokoro.h"
#include "converter/readers/packed_checkpoint.h"
#include "converter/readers/pickle.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kConfigDepth = 32;

/// True also where the system does not let us look: opening the file then gives its reason.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() != fs::file_type::not_found;
}

int32_t token_id(const json& value, const fs::path& path) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT32_MAX) {
    JsonFile(path.string()).refuse_value("eos_token_id", &value, "a token id or a list of them");
  }
  return value.get<int32_t>();
}

/// eos_token_id of a config: a number, a list, or absent.
std::vector<int32_t> eos_ids(const json& config, const fs::path& path) {
  const auto found = config.find("eos_token_id");
  if (found == config.end() || found->is_null()) return {};
  if (!found->is_array()) return {token_id(*found, path)};
  std::vector<int32_t> ids;
  for (const json& value : *found) ids.push_back(token_id(value, path));
  return ids;
}

std::vector<int32_t> stop_ids(const fs::path& directory, const json& config) {
  const fs::path generation = directory / "generation_config.json";
  if (is_there(generation)) {
    auto ids = eos_ids(read_json_object(generation, kConfigDepth), generation);
    if (!ids.empty()) return ids;
  }
  return eos_ids(config, directory / "config.json");
}

/// Returns the name with "model" for each "model.language_model" behind the first: transformers 4 writes the
/// long form for every "model" of the text part of Gemma 3n, those inside "per_layer_model_projection" too.
std::string with_one_language_model(const std::string& name) {
  constexpr std::string_view kWritten = "model.language_model", kMeant = "model";
  size_t from = kWritten.size(), at = name.find(kWritten, from);
  if (!name.starts_with(kWritten) || at == std::string::npos) return name;
  std::string result(kWritten);
  for (; at != std::string::npos; at = name.find(kWritten, from)) {
    result.append(name, from, at - from).append(kMeant);
    from = at + kWritten.size();
  }
  return result.append(name, from);
}

/// Checkpoints from TensorFlow's days call a norm's weight gamma and its bias beta.
std::string current_name(const std::string& given) {
  const std::string name = with_one_language_model(given);
  const std::string norm = name.substr(0, name.rfind('.') + 1);
  if (name.ends_with(".LayerNorm.gamma")) return norm + "weight";
  if (name.ends_with(".LayerNorm.beta")) return norm + "bias";
  return name;
}

/// A convolution [outputs, inputs, 1] is a matrix.
std::vector<uint64_t> without_single_taps(std::vector<uint64_t> shape) {
  if (shape.size() == 3 && shape.back() == 1) shape.pop_back();
  return shape;
}

/// Integers and booleans are no weights (position ids, masks) and are left out, unless they are ternary ones
/// or parts of packed matrices, which go to `packed`.
void add_tensor(Source& source, const std::string& name, const NamedTensor& tensor, const fs::path& path,
                NamedTensors* packed = nullptr) {
  static const std::map<std::string, SourceType> kWeightTypes = {
      {"F32", SourceType::f32}, {"F16", SourceType::f16}, {"BF16", SourceType::bf16}};
  const auto type = kWeightTypes.find(tensor.dtype);
  if (type != kWeightTypes.end()) {
    source.tensors[current_name(name)] = {type->second, without_single_taps(tensor.shape),
                                          tensor.bytes.data(), tensor.bytes.size()};
  } else if (source.ternary && tensor.dtype == "U8" && tensor.shape.size() == 2 &&
             name.ends_with(".weight")) {
    source.tensors[name] = {SourceType::ternary,
                            {4 * tensor.shape[0], tensor.shape[1]},
                            tensor.bytes.data(),
                            tensor.bytes.size()};
  } else if (source.packed && packed != nullptr &&
             (tensor.dtype.front() == 'I' || tensor.dtype == "F8_E4M3")) {
    (*packed)[name] = tensor;
  } else if (tensor.dtype.front() == 'F' || tensor.dtype.front() == 'C') {
    fail("{}: tensor {} is {}, read are F32, F16 and BF16: save the model in one of these", path.string(),
         name, tensor.dtype);
  }
}

NamedTensors map_file(Source& source, const fs::path& path) {
  auto file = std::make_unique<MappedFile>(path);
  auto tensors = path.extension() == ".bin" ? parse_pytorch(file->bytes(), path.string())
                                            : parse_safetensors(file->bytes(), path.string());
  source.files.push_back(std::move(file));
  return tensors;
}

void read_shards(Source& source, const fs::path& directory, const fs::path& index_path,
                 NamedTensors& packed) {
  const json index = read_json_object(index_path, kConfigDepth);
  const JsonFile file(index_path.string());
  std::map<std::string, NamedTensors> shards;
  for (const auto& [name, value] : file.object(index, "weight_map").items()) {
    if (!value.is_string()) file.refuse_value("weight_map." + name, &value, "a file's name");
    const std::string shard = value.get<std::string>();
    const fs::path path = directory / shard;
    if (shard.empty() || fs::path(shard).filename() != shard || shard == "..") {
      fail("{}: tensor {} must be in a file of the same directory", index_path.string(), shown(name));
    }
    if (!shards.count(shard)) {
      if (!is_there(path)) {
        fail("{} is missing: {} lists it, fetch it too", path.string(), index_path.filename().string());
      }
      shards[shard] = map_file(source, path);
    }
    const auto tensor = shards[shard].find(name);
    if (tensor == shards[shard].end()) {
      fail("{} has no tensor {}, though {} says so", path.string(), shown(name),
           index_path.filename().string());
    }
    add_tensor(source, name, tensor->second, path, &packed);
  }
}

void read_weights(Source& source, const fs::path& directory, NamedTensors& packed) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const fs::path single = directory / name, index = directory / (std::string(name) + ".index.json");
    if (is_there(single)) {
      for (const auto& [key, tensor] : map_file(source, single))
        add_tensor(source, key, tensor, single, &packed);
      return;
    }
    if (is_there(index)) return read_shards(source, directory, index, packed);
  }
  fail(
      "{} has no weights: expected model.safetensors or pytorch_model.bin, or the index of its shards, or "
      "model.onnx, beside config.json",
      directory.string());
}

/// The ONNX file of a directory that has no other weights; empty: there is none.
fs::path find_onnx(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    if (is_there(directory / name) || is_there(directory / (std::string(name) + ".index.json"))) return {};
  }
  for (const fs::path& folder : {directory, directory / "onnx"}) {
    for (const char* name : {"model.onnx", "model_optimized.onnx", "model_quantized.onnx",
                             "encoder_model.onnx", "encoder_model_quantized.onnx", "encoder.onnx"}) {
      if (is_there(folder / name)) return folder / name;
    }
  }
  return {};
}

/// Gives each ternary matrix the scale that lies beside it. BitNet's first class divides by it.
void take_scales(Source& source, const json& config) {
  if (!source.ternary) return;
  const bool divides = config["quantization_config"]["linear_class"] == json("bitlinear");
  for (auto& [name, tensor] : source.tensors) {
    if (tensor.type != SourceType::ternary) continue;
    const auto scale = source.tensors.find(name + "_scale");
    if (scale == source.tensors.end()) fail("tensor {}_scale is missing", name);
    if (scale->second.rows() != 1 || scale->second.cols() != 1)
      fail("tensor {}_scale is not one number", name);
    float value = 0.0f;
    read_row(scale->second, 0, {&value, 1});
    tensor.scale = divides ? 1.0f / value : value;
    if (!std::isfinite(tensor.scale)) fail("tensor {}_scale is {}", name, value);
  }
  std::erase_if(source.tensors, [](const auto& entry) { return entry.first.ends_with(".weight_scale"); });
}

/// Fails where bitsandbytes has packed matrices, which it leaves scales and maps of beside them.
void refuse_left_over(const Source& source) {
  for (const auto& [name, tensor] : source.tensors) {
    if (name.ends_with(".SCB") || name.ends_with("absmax") || name.ends_with("quant_map"))
      fail(
          "{}: tensor {} is of a matrix that bitsandbytes has packed, which is not read; give the directory "
          "of the "
          "unquantized model",
          source.directory.string(), name);
  }
}

/// Returns the chat template of the file's key, a text or a list of named ones; "" for none.
std::string chat_template_of(const fs::path& config) {
  if (!is_there(config)) return "";
  const nlohmann::json values = read_json_object(config, kConfigDepth);
  const JsonFile file(config.string());
  const json* found = file.find(values, "chat_template");
  if (found == nullptr) return "";
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) file.refuse_value("chat_template", found, "a text or a list of named ones");
  for (const json& named : *found) {
    if (!named.is_object())
      file.refuse_value("chat_template", &named, "an object with a name and a template");
    if (file.text(named, "name") == "default") return file.text(named, "template");
  }
  return "";
}

void take_modules(Source& source, const SentenceModules& modules) {
  source.pooling = modules.pooling;
  source.logit_score = modules.logit_score;
  source.pair_messages = modules.pair_messages;
  source.max_tokens = modules.max_tokens;
  source.lowercase = modules.lowercase;
  source.label_activation = modules.label_activation;
  source.similarity = modules.similarity;
  if (!modules.unread.empty())
    source.notes.push_back(
        fmt::format("config_sentence_transformers.json has keys that mote does not read: {}",
                    fmt::join(modules.unread, ", ")));
  source.default_prompt = modules.default_prompt;
  std::string known;
  for (const Prompt& prompt : modules.prompts) {
    const bool used = modules.pair_messages && prompt.text == modules.pair_messages->instruction;
    if (!prompt.text.empty() && !used)
      known += fmt::format("{}{} \"{}\"", known.empty() ? "" : ", ", prompt.name, prompt.text);
  }
  if (modules.pools_prompt && modules.pooling) {
    source.prompts = modules.prompts;
    if (!known.empty())
      source.notes.push_back(fmt::format("prompts before texts: {}; mote embed --prompt-name NAME", known));
  } else if (!known.empty()) {
    source.notes.push_back(fmt::format("the prompts {} are left out: {}", known,
                                       modules.pooling
                                           ? "the pooling leaves their tokens out, which is not supported"
                                           : "a cross encoder's are not supported"));
  }
}

/// The weights of linears behind the pooling.
void add_dense(Source& source, const SentenceModules& modules) {
  for (size_t i = 0; i < modules.dense_folders.size(); ++i) {
    const fs::path path = modules.dense_folders[i] / "model.safetensors";
    if (!is_there(path))
      fail("{} is missing: the weights of a Dense module are read as safetensors", path.string());
    const std::string& name = modules.pooling->dense[i].name;  // ends in ".linear"
    const std::string folder = name.substr(0, name.rfind('.') + 1);
    for (const auto& [key, tensor] : map_file(source, path)) add_tensor(source, folder + key, tensor, path);
  }
}

}  // namespace

std::string read_chat_template(const fs::path& directory) {
  const fs::path jinja = directory / "chat_template.jinja";
  if (is_there(jinja)) {
    const MappedFile file(jinja);
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }
  const std::string text = chat_template_of(directory / "tokenizer_config.json");
  return text.empty() ? chat_template_of(directory / "chat_template.json") : text;
}

Source read_onnx_file(const fs::path& path, const std::vector<std::string>& ignored) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const fs::path above = folder / "..";
  std::error_code error;
  const bool in_onnx = fs::weakly_canonical(folder, error).filename() == "onnx";
  return read_hf_directory(in_onnx && !is_there(folder / "config.json") ? above : folder, path, ignored);
}

void add_weights(Source& source, const fs::path& path) {
  for (const auto& [name, tensor] : map_file(source, path)) add_tensor(source, name, tensor, path);
}

Source read_hf_directory(const fs::path& root, const fs::path& onnx,
                         const std::vector<std::string>& ignored) {
  std::optional<SentenceModules> sentence;
  if (is_there(root / "modules.json")) sentence = read_sentence_modules(root);
  const fs::path directory = sentence ? sentence->transformer : root;
  const fs::path config_path = directory / "config.json";
  if (is_there(directory / "adapter_config.json")) {
    fail(
        "{} holds an adapter (adapter_config.json): convert the model that it was trained for with --lora "
        "and "
        "this directory",
        directory.string());
  }
  const fs::path graph = onnx.empty() ? find_onnx(directory) : onnx;
  const bool has_config = is_there(config_path);
  if (!has_config && graph.empty()) {
    fail("{} has no config.json: expected a model directory with config.json and model.safetensors",
         directory.string());
  }
  Source source;
  source.ignored_keys = ignored;
  source.format = "hf";
  source.directory = directory;
  std::error_code error;
  source.name = fs::weakly_canonical(root, error).filename().string();
  if (sentence) take_modules(source, *sentence);
  json config = has_config ? read_json_object(config_path, kConfigDepth) : derive_onnx_config(graph);
  refuse_kokoro(config, config_path.string());
  if (!has_config) {
    source.notes.push_back(fmt::format(
        "{} has no config.json: sizes, heads, epsilon and activation are those of {}, as a BERT's",
        directory.string(), graph.filename().string()));
  }
  const PackedFormat format = read_packed_format(config, config_path.string());
  if (format.method == PackedMethod::left_over) {
    source.notes.emplace_back(
        "quantization_config is ignored: it says how bitsandbytes rounds weights as it loads them; these are "
        "plain");
    config.erase("quantization_config");
  }
  source.config = std::make_shared<const json>(config);
  source.config_path = has_config ? config_path : graph;
  source.stop_ids = stop_ids(directory, config);
  source.chat_template = read_chat_template(directory);
  const PackedMethod method = format.method;
  source.ternary = method == PackedMethod::ternary;
  source.packed = method != PackedMethod::none && method != PackedMethod::left_over &&
                  method != PackedMethod::online_ternary && !source.ternary;
  NamedTensors packed;
  if (graph.empty()) read_weights(source, directory, packed);
  if (method == PackedMethod::left_over) refuse_left_over(source);
  take_scales(source, config);
  add_packed(source, format, packed);
  if (method == PackedMethod::online_ternary) round_to_ternary(source, format);
  if (sentence && sentence->pooling) add_dense(source, *sentence);
  if (!graph.empty()) read_onnx(source, graph);
  return source;
}

}  // namespace mote::convert
