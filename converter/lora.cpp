// SPDX-License-Identifier: Apache-2.0
#include "converter/lora.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "converter/adapter_config.h"
#include "converter/adapter_task.h"
#include "converter/architectures/shared/architecture.h"
#include "converter/merged_rows.h"
#include "converter/module_names.h"
#include "converter/readers/pickle.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "converter/tied_head.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "base_model.model.", kA = ".lora_A.weight",
                           kEmbeddingA = ".lora_embedding_A", kRows = ".token_adapter.trainable_tokens_delta",
                           kBase = ".base_layer.";

std::string without_end(const std::string& name, std::string_view end) {
  return name.substr(0, name.size() - end.size());
}

std::vector<float> values_of(const SourceTensor& tensor, const std::string& name) {
  charge_bytes(tensor.rows() * tensor.cols() * sizeof(float));  // tensors of a pickle may share their bytes
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
        config_(read_adapter_config(directory / "adapter_config.json", source)),
        strength_(strength) {
    Config config(*source.config, source.config_path.string());
    config.ignore(source.ignored_keys);
    const TransformerSpec spec = find_architecture(config).read(source, config);
    transposed_ = spec.transposed;
    names_ = join_tied_head(source, spec);
    for (auto& [name, tensor] : source.tensors) ends_.add(name, tensor);
    for (const std::string& module : config_.whole) whole_.add(module + ".");
  }

  void merge() {
    read_tensors();
    const bool any = std::any_of(tensors_.begin(), tensors_.end(), [](const auto& entry) {
      return entry.first.find(".lora_") != std::string::npos || entry.first.ends_with(kRows);
    });
    if (!any) fail("{} has no lora_A tensors", directory_.string());
    for (const auto& [name, tensor] : tensors_) {
      if (name.find(".lora_") == std::string::npos && !name.ends_with(kRows)) replace(name, tensor);
    }
    keep_own_head();
    if (!replaced_.empty()) set_adapter_task(source_, config_.task, replaced_);
    for (const auto& [name, tensor] : tensors_) {
      if (name.ends_with(kA)) merge_pair(name, kA, ".lora_B.weight");
      if (name.ends_with(kEmbeddingA)) merge_pair(name, kEmbeddingA, ".lora_embedding_B");
      if (name.ends_with(".lora_B.bias")) add_bias(name, tensor);
      if (name.ends_with(kRows)) replace_rows(name, tensor);
      // Training alone needs these.
      if (name.find(".lora_velora_") != std::string::npos ||
          name.find(".lora_monteclora_") != std::string::npos)
        used_.insert(name);
    }
    for (const auto& [name, tensor] : tensors_) {
      if (used_.count(name) == 0) fail("{}: adapter tensor {} is not read", directory_.string(), shown(name));
    }
  }

 private:
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

  /// The name without what peft puts before it.
  std::string plain(const std::string& name) const {
    if (!name.starts_with(kPrefix))
      fail("{}: adapter tensor {} does not begin with {}", directory_.string(), shown(name), kPrefix);
    return name.substr(kPrefix.size());
  }

  /// The model's tensor of this name. Checkpoints of a model without its head lack the first part of names,
  /// adapters of one have names without it. Null: there is none, or there are several.
  SourceTensor* find(const std::string& name) {
    auto& tensors = source_.tensors;
    const auto found = tensors.find(name);
    if (found != tensors.end()) return &found->second;
    if (names_.tied && name == names_.head + ".weight") return find(names_.embedding + ".weight");
    const auto shorter = tensors.find(name.substr(name.find('.') + 1));
    if (shorter != tensors.end()) return &shorter->second;
    return ends_.find(name);
  }
  SourceTensor& tensor_of(const std::string& name, const std::string& own) {
    SourceTensor* found = find(name);
    if (found == nullptr)
      fail("{}: adapter tensor {} fits no weight of the model", directory_.string(), shown(own));
    return *found;
  }

  bool is_whole(const std::string& name) const { return whole_.any_within(name); }

  /// A weight or a bias that was trained as it is, or one that peft keeps beside the product.
  void replace(const std::string& own, const SourceTensor& tensor) {
    std::string name = plain(own);
    const size_t at = name.rfind(kBase);
    const bool kept = at != std::string::npos;
    if (kept) name.erase(at, kBase.size() - 1);
    const bool whole = is_whole(name), is_head = name == names_.head + ".weight";
    values_of(tensor, own);
    used_.insert(own);
    if (whole && names_.tied && (is_head || name == names_.embedding + ".weight")) {
      if (!source_.own_head) source_.own_head = tensor_of(names_.embedding + ".weight", own);
      if (is_head) {
        source_.own_head = tensor;
        has_own_head_ = true;
        return;
      }
    }
    SourceTensor* found = find(name);
    if (found == nullptr && !whole)
      fail("{}: adapter tensor {} fits no weight of the model", directory_.string(), shown(own));
    if (found == nullptr) {
      add(name, tensor);
    } else {
      require_shape(own, tensor, name, *found);
      *found = tensor;
    }
    if (whole) replaced_.push_back(tensor.shape);
  }

  void add(const std::string& name, const SourceTensor& tensor) {
    SourceTensor& added = source_.tensors[name] = tensor;
    ends_.add(name, added);
  }

  /// A vocabulary may have grown, and a head may have other labels.
  void require_shape(const std::string& own, const SourceTensor& tensor, const std::string& name,
                     const SourceTensor& before) {
    if (tensor.shape == before.shape) return;
    const bool words = name.ends_with(names_.embedding + ".weight") || name == names_.head + ".weight";
    const bool columns = tensor.shape.size() == before.shape.size() && tensor.cols() == before.cols();
    if (words && columns) return set_adapter_vocabulary(source_, before.rows(), tensor.rows());
    const bool labels = is_whole(name) && !config_.task.empty() &&
                        tensor.shape.size() == before.shape.size() && (tensor.shape.size() == 1 || columns);
    if (!labels)
      fail("{}: adapter tensor {} [{}] does not fit the weight [{}]", directory_.string(), shown(own),
           fmt::join(tensor.shape, ", "), fmt::join(before.shape, ", "));
  }

  /// Gives the head, tied before, the weights that it has of its own now.
  void keep_own_head() {
    if (!source_.own_head) return;
    if (!has_own_head_) {
      source_.notes.push_back("the adapter replaces the embedding, the head that was tied to it stays");
    }
    add(names_.head + ".weight", *source_.own_head);
    source_.own_head.reset();
    names_.tied = false;
  }

  /// Returns the value of the pattern that names the module; peft takes the first of several, whose order
  /// JSON does not keep.
  template <class Value>
  std::optional<Value> pattern_value(const std::map<std::string, Value, std::less<>>& patterns,
                                     const std::string& module) {
    std::optional<Value> found;
    each_naming(patterns, module, [&](const std::string&, Value value) {
      if (found && *found != value)
        fail("{}: several patterns name {}", (directory_ / "adapter_config.json").string(), shown(module));
      found = value;
    });
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

  void merge_pair(const std::string& a_name, std::string_view a_end, const char* b_end) {
    const std::string stem = without_end(a_name, a_end), module = plain(stem), b_name = stem + b_end;
    const SourceTensor& a = take(a_name);
    const SourceTensor& b = take(b_name);
    SourceTensor& weight = tensor_of(module + ".weight", a_name);
    auto merged = std::make_shared<MergedRows>();
    merged->transposed = a_end == kEmbeddingA || (transposed_ && module != names_.head && !weight.is_linear);
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
    merged->base = weight;
    if (config_.dora) add_lengths(stem, *merged, outputs);
    note_tied(module);
    put(weight, std::move(merged));
  }

  static void put(SourceTensor& tensor, std::shared_ptr<const RowReader> reader) {
    tensor.reader = std::move(reader);
    tensor.reader_row = 0;
    tensor.interleaved_heads = 0;
  }

  void note_tied(const std::string& module) {
    const bool is_head = module == names_.head;
    if (!names_.tied || tied_noted_ || (!is_head && !names_.embedding.ends_with(module))) return;
    tied_noted_ = true;
    source_.notes.push_back(fmt::format(
        "{} and {} are one tensor, which the adapter of {} changes for both, as merge_and_unload does",
        names_.embedding, names_.head, module));
  }

  void add_lengths(const std::string& stem, MergedRows& merged, uint64_t outputs) {
    const std::string plain = stem + ".lora_magnitude_vector";
    const std::string name = tensors_.count(plain) != 0 ? plain : plain + ".weight";
    const SourceTensor& lengths = take(name);
    if (strength_ != 1.0f) fail("{}: use_dora is read at the scale 1 only", directory_.string());
    if (lengths.rows() * lengths.cols() != outputs)
      fail("{}: adapter tensor {} does not fit its weight", directory_.string(), shown(name));
    merged.set_lengths(values_of(lengths, name));
  }

  void add_bias(const std::string& name, const SourceTensor& tensor) {
    constexpr std::string_view kEnd = ".lora_B.bias";
    const std::string module = plain(without_end(name, kEnd));
    SourceTensor& bias = tensor_of(module + ".bias", name);
    if (bias.shape != tensor.shape)
      fail("{}: adapter tensor {} does not fit its bias", directory_.string(), shown(name));
    const SourceTensor& a = take(without_end(name, kEnd) + std::string(kA));
    const float factor = factor_of(module, a.rows(), name);
    auto added = std::make_shared<AddedVector>();
    added->base = bias;
    added->added = values_of(tensor, name);
    for (float& value : added->added) value *= factor;
    used_.insert(name);
    put(bias, std::move(added));
  }

  /// The rows of a table that were trained.
  void replace_rows(const std::string& name, const SourceTensor& tensor) {
    const std::string module = plain(without_end(name, kRows));
    std::string last;  // of several keys that name it
    const std::vector<uint64_t>* given = &config_.embedding_rows;
    each_naming(config_.rows, module, [&](const std::string& key, const std::vector<uint64_t>& own) {
      if (key < last) return;
      last = key;
      given = &own;
    });
    const std::vector<uint64_t>& rows = *given;
    SourceTensor& table = tensor_of(module + ".weight", name);
    if (tensor.rows() != rows.size() || tensor.cols() != table.cols())
      fail("{}: adapter tensor {} [{}] does not fit the {} rows of trainable_token_indices",
           directory_.string(), shown(name), fmt::join(tensor.shape, ", "), rows.size());
    values_of(tensor, name);
    auto replaced = std::make_shared<ReplacedRows>();
    for (uint64_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= table.rows())
        fail("{}: trainable_token_indices holds {}, the table has {} rows", directory_.string(), rows[i],
             table.rows());
      replaced->rows[rows[i]] = i;
    }
    replaced->base = table;
    replaced->others = tensor;
    used_.insert(name);
    put(table, std::move(replaced));
  }

  Source& source_;
  fs::path directory_;
  AdapterConfig config_;
  float strength_;
  bool transposed_ = false, tied_noted_ = false, has_own_head_ = false;
  TiedNames names_;
  TensorEnds ends_;   // of the source's
  NameStarts whole_;  // of modules_to_save, with the dot behind them
  std::map<std::string, SourceTensor> tensors_;
  std::vector<std::vector<uint64_t>> replaced_;  // shapes of what modules_to_save holds
  std::set<std::string> used_;
};

}  // namespace

namespace {

/// Returns the bytes of the files in an adapter's directory that describe it and hold its numbers.
uint64_t bytes_of_adapter(const fs::path& directory) {
  uint64_t bytes = 0;
  for (const char* name : {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"}) {
    std::error_code none;
    const uint64_t size = fs::file_size(directory / name, none);
    if (!none) bytes += size;
  }
  return bytes;
}

/// The tokenizer and the chat template that were saved with the adapter are those that it was trained with.
void take_texts(Source& source, const fs::path& directory) {
  if (source.format != "hf") return;
  std::error_code none;
  std::string taken;
  for (const char* name : {"tokenizer.json", "tokenizer.model", "spiece.model", "spm.model", "vocab.txt",
                           "sentencepiece.bpe.model", "vocab.json", "tekken.json", "tiktoken.model"}) {
    if (!fs::exists(directory / name, none)) continue;
    source.text_directory = directory;
    taken = "tokenizer";
    break;
  }
  const std::string chat = read_chat_template(directory);
  if (!chat.empty()) {
    source.chat_template = chat;
    taken += taken.empty() ? "chat template" : " and its chat template";
  }
  if (!taken.empty()) source.notes.push_back(fmt::format("the {} is the adapter's", taken));
}

}  // namespace

void merge_adapter(Source& source, const fs::path& directory, float strength) {
  std::error_code none;
  if (!fs::exists(directory / "adapter_config.json", none))
    fail("{} has no adapter_config.json: expected a LoRA adapter's directory", directory.string());
  const WorkBudget budget(directory.string(), bytes_of_adapter(directory));
  Adapter(source, directory, strength).merge();
  source.notes.push_back(fmt::format("merged the adapter {} at the scale {}", directory.string(), strength));
  take_texts(source, directory);
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
