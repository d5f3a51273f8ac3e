// SPDX-License-Identifier: Apache-2.0
//
// ONNX files: protocol buffers of nodes, which are in the order of their execution, and of initializers, the
// weights. Read here by a wire reader of our own: libprotobuf copies every weight to memory before it gives
// one, refuses files of 2 GB and needs a compiler of its own at build time, while the format is tags, lengths
// and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mote::convert {

/// TensorProto.DataType, those that are read.
enum class OnnxType : int32_t { f32 = 1, u8, i8, i32 = 6, i64, boolean = 9, f16, f64, bf16 = 16 };

/// Bytes of an element; 0 for a type that is not read.
uint64_t onnx_type_bytes(OnnxType type);
/// As messages name it.
std::string onnx_type_name(OnnxType type);

struct OnnxTensor {
  std::string name;
  OnnxType type = OnnxType::f32;
  std::vector<uint64_t> dims = {};
  std::span<const std::byte> bytes = {};             // dense, little-endian, any alignment
  std::map<std::string, std::string> external = {};  // "location", "offset", "length"; empty: none

  uint64_t size() const;  // elements
  double value(uint64_t index) const;
};

struct OnnxGraph;

struct OnnxAttribute {
  std::string name, text = {};
  int64_t integer = 0;
  float number = 0.0f;
  std::vector<int64_t> integers = {};
  std::vector<float> numbers = {};
  const OnnxTensor* tensor = nullptr;
  std::shared_ptr<OnnxGraph> graph = nullptr;  // a branch
};

struct OnnxNode {
  std::string op, name, domain;
  std::vector<std::string> inputs, outputs;  // "": an optional one that is left out
  std::vector<OnnxAttribute> attributes;

  const OnnxAttribute* find(const std::string& key) const;  // null where it is not given
  int64_t integer(const std::string& key, int64_t fallback) const;
  float number(const std::string& key, float fallback) const;
};

struct OnnxInput {
  std::string name;
  OnnxType type = OnnxType::f32;
  std::vector<int64_t> dims = {};  // 0: of a name, or not said
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, OnnxTensor> initializers;
  int64_t opset = 0;
  std::deque<OnnxTensor> constants;            // of attributes, those of branches too
  std::deque<std::vector<std::byte>> decoded;  // tensors that the file does not hold as plain bytes
};

/// Says whether the bytes start as a ModelProto does.
bool is_onnx(std::span<const std::byte> file);

/// The graph, whose tensors point into the bytes. Every length, shape and number of bytes is checked, but
/// tensors with external data have none yet. `where` names the file in messages. Throws Error.
OnnxGraph parse_onnx(std::span<const std::byte> file, const std::string& where);

}  // namespace mote::convert
