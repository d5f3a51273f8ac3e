// SPDX-License-Identifier: Apache-2.0
//
// A model that lies in an ONNX file: the graph, and its weights by the names that Hugging Face gives them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "converter/onnx/onnx_file.h"
#include "converter/source.h"

namespace mote::convert {

/// value = scale * (integer - zero), where there are scales: one, or one for each output.
struct OnnxWeight {
  const OnnxTensor* tensor = nullptr;
  bool in_out = false;  // a matrix stored [inputs, outputs], as MatMul takes it
  std::vector<float> scales = {}, zeros = {};

  bool operator==(const OnnxWeight&) const = default;
};

struct OnnxModel {
  std::string where;   // the file
  uint64_t bytes = 0;  // of it and of those that its tensors lie in
  OnnxGraph graph;
  bool half = false;  // it has tensors of 16 bits: its numbers are the config's rounded to these
  std::map<std::string, OnnxWeight> weights;
};

/// Writes the operators of onnxruntime's optimizer as those that they stand for.
void expand_fused(OnnxModel& model);

/// Writes weights in integers that Cast and Mul make reals of as what DequantizeLinear makes.
void expand_casts(OnnxModel& model);

/// Takes away what stands before all names, which a wrapper around the model gave them.
void unwrap_onnx_weights(OnnxModel& model);

/// The config of a BERT without a head, from its graph alone. Throws Error, naming what the graph does not
/// say.
nlohmann::json derive_onnx_config(const OnnxModel& model);
/// Derive the config of a file, whose weights are not read, or of its bytes. They throw Error for a pair.
nlohmann::json derive_onnx_config(const std::filesystem::path& path);
nlohmann::json derive_onnx_config(std::span<const std::byte> file, const std::filesystem::path& path);

/// Finds the names of the weights: their own, those of the biases that are added behind their MatMul, or the
/// path in the name of that node ("/encoder/layer.0/output/dense/MatMul").
void name_onnx_weights(OnnxModel& model);

/// The weight as other readers give it, rows of outputs. `name` is for messages. Throws Error.
SourceTensor onnx_source_tensor(const std::shared_ptr<const OnnxModel>& model, const OnnxWeight& weight,
                                const std::string& name);

/// The files of an encoder and its decoder, as optimum calls them: encoder_model.onnx, and decoder_model.onnx
/// or, with both branches of its cache, decoder_model_merged.onnx; "_quantized" may stand before ".onnx".
struct OnnxPair {
  std::filesystem::path encoder, decoder;
};
/// That of one of its files; none where the name is of no pair.
std::optional<OnnxPair> find_onnx_pair(const std::filesystem::path& path);

/// Adds the tensors of the file, or of the pair that it is of, to a source whose config and pooling are
/// known, and proves that the graph computes what the architecture makes of them. Throws Error, naming the
/// operator and the node that differ.
void read_onnx(Source& source, const std::filesystem::path& path);
/// Read the bytes of files, which the caller keeps.
void read_onnx(Source& source, std::span<const std::byte> file, const std::filesystem::path& path);
void read_onnx_pair(Source& source, std::span<const std::byte> encoder, std::span<const std::byte> decoder);

}  // namespace mote::convert
