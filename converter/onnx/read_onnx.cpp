// SPDX-License-Identifier: Apache-2.0
//
// Weights of an ONNX file as tensors of a source.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "converter/architectures/shared/architecture.h"
#include "converter/onnx/onnx_model.h"
#include "converter/onnx/proof.h"
#include "converter/readers/packed_rows.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

/// Rows of a tensor, or the columns of a matrix [cols, rows].
struct OnnxRows : RowReader {
  OnnxRows(std::shared_ptr<const OnnxModel> owner, const OnnxWeight& weight)
      : model(std::move(owner)), tensor(*weight.tensor), in_out(weight.in_out) {}

  std::shared_ptr<const OnnxModel> model;
  const OnnxTensor& tensor;
  bool in_out;

  void read(uint64_t row, std::span<float> out) const override {
    const uint64_t first = in_out ? row : row * out.size(), step = in_out ? tensor.dims[1] : 1;
    for (uint64_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(tensor.value(first + i * step));
  }
};

/// A vector of integers with a scale.
struct OnnxScaledVector : RowReader {
  std::shared_ptr<const OnnxModel> model;
  OnnxWeight weight;

  void read(uint64_t, std::span<float> out) const override {
    const auto of = [](const std::vector<float>& values, uint64_t i) {
      return values.empty() ? 0.0f : values.size() == 1 ? values[0] : values[i];
    };
    for (uint64_t i = 0; i < out.size(); ++i)
      out[i] = (static_cast<float>(weight.tensor->value(i)) - of(weight.zeros, i)) * of(weight.scales, i);
  }
};

SourceTensor scaled_vector(const std::shared_ptr<const OnnxModel>& model, const OnnxWeight& weight,
                           const std::string& name) {
  const OnnxTensor& tensor = *weight.tensor;
  if (tensor.type != OnnxType::i8 && tensor.type != OnnxType::u8 && tensor.type != OnnxType::i32)
    fail("tensor {}: {} with a scale is not supported", name, onnx_type_name(tensor.type));
  for (const std::vector<float>* values : {&weight.scales, &weight.zeros}) {
    if (values->size() > 1 && values->size() != tensor.size())
      fail("tensor {} has {} elements and {} scales or zeros", name, tensor.size(), values->size());
  }
  auto reader = std::make_shared<OnnxScaledVector>();
  reader->model = model;
  reader->weight = weight;
  SourceTensor result{SourceType::f32, tensor.dims, tensor.bytes.data(), tensor.bytes.size()};
  result.reader = std::move(reader);
  return result;
}

/// One value for each of `count`, of one for all of them or of as many.
std::vector<float> spread(const std::vector<float>& values, uint64_t count, const std::string& name) {
  if (values.size() == count) return values;
  if (values.size() > 1) fail("tensor {} has {} outputs and {} scales or zeros", name, count, values.size());
  return std::vector<float>(count, values.empty() ? 0.0f : values[0]);
}

SourceTensor quantized_tensor(const std::shared_ptr<const OnnxModel>& model, const OnnxWeight& weight,
                              std::vector<uint64_t> shape, const std::string& name) {
  const OnnxTensor& tensor = *weight.tensor;
  if (tensor.type != OnnxType::i8 && tensor.type != OnnxType::u8)
    fail("tensor {}: {} with a scale is not supported", name, onnx_type_name(tensor.type));
  if (shape.size() != 2 && shape.size() != 3)
    fail("tensor {}: integers of {} dimensions are not supported", name, shape.size());
  if (tensor.size() == 0) fail("tensor {} has no elements", name);
  const uint64_t cols = shape.back(), rows = tensor.size() / std::max<uint64_t>(cols, 1);
  auto reader = std::make_shared<IntegerRows>(rows, cols, cols);
  const std::vector<float> scales = spread(weight.scales, shape[0], name);
  const std::vector<float> zeros = spread(weight.zeros, shape[0], name);
  for (uint64_t row = 0; row < rows; ++row) {
    reader->scales.push_back(scales[row * shape[0] / rows]);
    reader->zeros.push_back(static_cast<int16_t>(zeros[row * shape[0] / rows]));
  }
  charge_work(tensor.size());
  const bool is_signed = tensor.type == OnnxType::i8;
  const std::byte* data = tensor.bytes.data();
  const uint64_t row_step = weight.in_out ? 1 : cols, col_step = weight.in_out ? rows : 1;
  reader->integer = [=, owner = model](uint64_t row, uint64_t column) {
    const std::byte* at = data + row * row_step + column * col_step;
    return is_signed ? static_cast<int>(load<int8_t>(at)) : static_cast<int>(load<uint8_t>(at));
  };
  for (uint64_t i = 0; i < tensor.size(); ++i) {
    const int value = reader->integer(i / cols, i % cols);
    reader->least = i == 0 ? value : std::min(reader->least, value);
    reader->most = i == 0 ? value : std::max(reader->most, value);
  }
  reader->prefers_row_scale = true;
  SourceTensor result{SourceType::packed, std::move(shape), data, tensor.bytes.size()};
  result.type = reader->settle_type();
  result.reader = std::move(reader);
  return result;
}

/// The bytes of a tensor that lie in a file beside the model's.
class ExternalFiles {
 public:
  ExternalFiles(Source& source, const fs::path& model) : source_(source), model_(model) {}

  void take(OnnxGraph& graph) {
    for (auto& [name, tensor] : graph.initializers) {
      if (!tensor.external.empty()) take(tensor);
    }
    for (const OnnxNode& node : graph.nodes) {
      for (const OnnxAttribute& attribute : node.attributes) {
        if (attribute.graph != nullptr) take(*attribute.graph);
      }
    }
  }
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const auto& [location, file] : files_) bytes += file.size();
    return bytes;
  }

 private:
  void take(OnnxTensor& tensor) {
    const std::string what = fmt::format("{}: tensor {}", model_.string(), shown(tensor.name));
    const std::string location = tensor.external["location"];
    const fs::path name(location);
    if (location.empty() || name.filename() != name || location == "..")
      fail("{} is in another file, '{}', which must be one of the same directory", what, shown(location));
    if (files_.count(location) == 0) {
      auto file = std::make_unique<MappedFile>(model_.parent_path() / name);
      files_[location] = file->bytes();
      source_.files.push_back(std::move(file));
    }
    const std::span<const std::byte> file = files_[location];
    const uint64_t bytes = tensor.size() * onnx_type_bytes(tensor.type);
    const uint64_t offset = number(tensor, "offset", 0, what), length = number(tensor, "length", bytes, what);
    if (length != bytes) fail("{} has {} bytes in {}, its shape implies {}", what, length, location, bytes);
    if (offset > file.size() || length > file.size() - offset)
      fail("{} needs bytes {} to {} of {}, which has {}: it is cut, fetch it again", what, offset,
           offset + length, location, file.size());
    tensor.bytes = file.subspan(offset, length);
    tensor.external.clear();
  }

  static uint64_t number(const OnnxTensor& tensor, const std::string& key, uint64_t fallback,
                         const std::string& what) {
    const auto found = tensor.external.find(key);
    if (found == tensor.external.end()) return fallback;
    uint64_t value = 0;
    const std::string& text = found->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
      fail("{}: its {} '{}' is no number", what, key, shown(text));
    return value;
  }

  Source& source_;
  const fs::path& model_;
  std::map<std::string, std::span<const std::byte>> files_;
};

}  // namespace

SourceTensor onnx_source_tensor(const std::shared_ptr<const OnnxModel>& model, const OnnxWeight& weight,
                                const std::string& name) {
  const OnnxTensor& tensor = *weight.tensor;
  std::vector<uint64_t> shape = tensor.dims;
  if (weight.in_out && shape.size() != 2)
    fail("tensor {} has {} dimensions, a matrix should be here", name, shape.size());
  if (weight.in_out) std::swap(shape[0], shape[1]);
  SourceTensor result;
  if (!weight.scales.empty() && shape.size() == 1) {
    result = scaled_vector(model, weight, name);
  } else if (!weight.scales.empty()) {
    result = quantized_tensor(model, weight, std::move(shape), name);
  } else {
    const std::map<OnnxType, SourceType> types = {{OnnxType::f32, SourceType::f32},
                                                  {OnnxType::f16, SourceType::f16},
                                                  {OnnxType::bf16, SourceType::bf16}};
    const auto type = types.find(tensor.type);
    if (type == types.end())
      fail("tensor {} is {}; weights are read of FLOAT, FLOAT16, BFLOAT16, and of INT8 and UINT8 with scales",
           name, onnx_type_name(tensor.type));
    result = {type->second, std::move(shape), tensor.bytes.data(), tensor.bytes.size()};
    result.reader = std::make_shared<OnnxRows>(model, weight);
  }
  // Whatever the architecture's own order of matrices is, this one's is known.
  result.is_linear = result.shape.size() == 2;
  return result;
}

namespace {

std::shared_ptr<OnnxModel> open_onnx(Source& source, std::span<const std::byte> file, const fs::path& path) {
  auto model = std::make_shared<OnnxModel>();
  model->where = path.string();
  model->graph = parse_onnx(file, model->where);
  ExternalFiles outside(source, path);
  outside.take(model->graph);
  model->bytes = file.size() + outside.bytes();
  const auto is_half = [](const OnnxTensor& tensor) { return onnx_type_bytes(tensor.type) == 2; };
  const OnnxGraph& graph = model->graph;
  model->half = std::any_of(graph.constants.begin(), graph.constants.end(), is_half) ||
                std::any_of(graph.initializers.begin(), graph.initializers.end(),
                            [&](const auto& named) { return is_half(named.second); });
  expand_fused(*model);
  expand_casts(*model);
  return model;
}

std::shared_ptr<OnnxModel> open_onnx(Source& source, const fs::path& path) {
  auto file = std::make_unique<MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  source.files.push_back(std::move(file));
  return open_onnx(source, bytes, path);
}

TransformerSpec spec_of(const Source& source) {
  Config config(*source.config, source.config_path.string());
  return find_architecture(config).read(source, config);
}

void add_weights(Source& source, const std::shared_ptr<OnnxModel>& model) {
  for (const auto& [name, weight] : model->weights)
    source.tensors[name] = onnx_source_tensor(model, weight, name);
}

/// Says whether the names are those of the spec's first weights.
bool has_names(const OnnxModel& model, const TransformerSpec& spec) {
  const bool of_picture = spec.picture.format.height != 0;
  const std::string& first = of_picture ? spec.picture.projection : spec.names.embedding;
  return spec.conv_stem != nullptr || model.weights.count(first + ".weight") != 0;
}

/// Returns none where the weights have other names than the spec's, or its head's matrix is not found.
std::optional<TransformerSpec> spec_if_named(const Source& source, const OnnxModel& model) {
  try {
    TransformerSpec spec = spec_of(source);
    if (has_names(model, spec)) return spec;
  } catch (const WorkExceeded&) {
    throw;
  } catch (const Error&) {  // of names or of the config: without what wraps the names it is said again
  }
  return std::nullopt;
}

void read_onnx_model(Source& source, const std::shared_ptr<OnnxModel>& model) {
  const WorkBudget budget(model->where, model->bytes);
  name_onnx_weights(*model);
  const std::map<std::string, SourceTensor> others = source.tensors;
  add_weights(source, model);
  std::optional<TransformerSpec> spec = spec_if_named(source, *model);
  if (!spec) {
    unwrap_onnx_weights(*model);
    source.tensors = others;
    add_weights(source, model);
    spec = spec_of(source);
  }
  prove_onnx(source, model, *spec);
}

/// T5's biases by distance, which its spec needs: by the end of their name, whatever wraps the side.
void add_distance_biases(Source& source, const std::shared_ptr<OnnxModel>& model, const char* side) {
  const WorkBudget budget(model->where, model->bytes);
  name_onnx_weights(*model);
  for (const auto& [name, weight] : model->weights) {
    const size_t at = name.rfind("block.");
    if (!name.ends_with(".SelfAttention.relative_attention_bias.weight") || at == std::string::npos) continue;
    const std::string own = std::string(side) + name.substr(at);
    source.tensors[own] = onnx_source_tensor(model, weight, own);
  }
  model->weights.clear();
}

/// Names of weights follow from their places in the graphs alone: each graph has names of its own.
void read_onnx_pair(Source& source, const OnnxPair& pair) {
  const auto encoder = open_onnx(source, pair.encoder), decoder = open_onnx(source, pair.decoder);
  add_distance_biases(source, encoder, "encoder.");
  add_distance_biases(source, decoder, "decoder.");
  prove_onnx(source, encoder, decoder, spec_of(source));
}

constexpr std::string_view kOnnxEnd = ".onnx";
constexpr const char *kEncoderStart = "encoder_model", *kDecoderStart = "decoder_model",
                     *kMergedStart = "decoder_model_merged", *kPlainEncoder = "encoder",
                     *kPlainDecoder = "decoder";

}  // namespace

std::optional<OnnxPair> find_onnx_pair(const fs::path& path) {
  const std::string name = path.filename().string();
  // People name their own exports encoder.onnx and decoder.onnx; a pair is both.
  for (const auto& [own, other] :
       {std::pair{kPlainEncoder, kPlainDecoder}, std::pair{kPlainDecoder, kPlainEncoder}}) {
    if (!name.starts_with(own) || !name.ends_with(kOnnxEnd) || name.starts_with(own + std::string("_model")))
      continue;
    const fs::path beside = path.parent_path() / (other + name.substr(std::string_view(own).size()));
    std::error_code error;
    if (!fs::exists(beside, error)) return std::nullopt;
    return own == kPlainEncoder ? OnnxPair{path, beside} : OnnxPair{beside, path};
  }
  for (const char* start : {kMergedStart, kDecoderStart, kEncoderStart}) {
    if (!name.starts_with(start) || !name.ends_with(kOnnxEnd)) continue;
    const std::string end = name.substr(std::string_view(start).size());  // "_quantized.onnx"
    const fs::path encoder = path.parent_path() / (kEncoderStart + end);
    if (start != kEncoderStart) return OnnxPair{encoder, path};
    const fs::path decoder = path.parent_path() / (kDecoderStart + end);
    std::error_code error;
    if (fs::exists(decoder, error)) return OnnxPair{path, decoder};
    return OnnxPair{path, path.parent_path() / (kMergedStart + end)};
  }
  return std::nullopt;
}

nlohmann::json derive_onnx_config(const fs::path& path) {
  if (find_onnx_pair(path))
    fail(
        "{} has no config.json beside it, and is one of an encoder and its decoder: put the config.json of "
        "the model "
        "that they were exported from beside them",
        path.string());
  const MappedFile file(path);
  return derive_onnx_config(file.bytes(), path);
}

nlohmann::json derive_onnx_config(std::span<const std::byte> file, const fs::path& path) {
  Source files;
  const auto model = open_onnx(files, file, path);
  const WorkBudget budget(model->where, model->bytes);
  name_onnx_weights(*model);
  unwrap_onnx_weights(*model);
  return derive_onnx_config(*model);
}

void read_onnx(Source& source, const fs::path& path) {
  if (const auto pair = find_onnx_pair(path)) return read_onnx_pair(source, *pair);
  read_onnx_model(source, open_onnx(source, path));
}

void read_onnx(Source& source, std::span<const std::byte> file, const fs::path& path) {
  read_onnx_model(source, open_onnx(source, file, path));
}

void read_onnx_pair(Source& source, std::span<const std::byte> encoder, std::span<const std::byte> decoder) {
  const auto first = open_onnx(source, encoder, "encoder"), second = open_onnx(source, decoder, "decoder");
  add_distance_biases(source, first, "encoder.");
  add_distance_biases(source, second, "decoder.");
  prove_onnx(source, first, second, spec_of(source));
}

}  // namespace mote::convert
