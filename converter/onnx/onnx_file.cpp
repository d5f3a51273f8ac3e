// SPDX-License-Identifier: Apache-2.0
//
// Field numbers are those of onnx.proto, the format's own description.
#include "converter/onnx/onnx_file.h"

#include <algorithm>
#include <functional>

#include "converter/readers/wire.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

/// Nodes, names, attributes and numbers of a file together: what is made of a byte takes many.
constexpr uint64_t kMaxEntries = 1u << 22;
constexpr size_t kMaxRank = 8;
constexpr uint32_t kMaxGraphDepth = 4;  // of graphs in graphs
constexpr const char* kOnnxKind = "ONNX file";

class OnnxParser {
 public:
  explicit OnnxParser(std::string where) : where_(std::move(where)) {}

  OnnxGraph model(std::span<const std::byte> file) {
    bool found = false;
    each(file, [&](const WireField& field) {
      if (field.number == 7 && field.wire == 2) {
        if (std::exchange(found, true)) fail("{} has two graphs", where_);
        graph(field.bytes, graph_);
      } else if (field.number == 8 && field.wire == 2) {
        opset(field.bytes);
      } else if (field.number == 25) {
        fail("{}: functions of a model's own are not read", where_);
      }
    });
    if (!found) fail("{} has no graph: is it an ONNX file?", where_);
    return std::move(graph_);
  }

 private:
  void each(std::span<const std::byte> bytes, const std::function<void(const WireField&)>& visit) {
    WireMessage(bytes, where_, kOnnxKind).each(visit);
  }

  void count() {
    if (++entries_ > kMaxEntries) fail("{} has more than {} entries", where_, kMaxEntries);
  }

  void opset(std::span<const std::byte> bytes) {
    std::string domain;
    int64_t version = 0;
    each(bytes, [&](const WireField& field) {
      if (field.number == 1) domain = field.text();
      if (field.number == 2) version = static_cast<int64_t>(field.value);
    });
    if (domain.empty() || domain == "ai.onnx") graph_.opset = version;
  }

  void graph(std::span<const std::byte> bytes, OnnxGraph& into) {
    each(bytes, [&](const WireField& field) {
      if (field.wire != 2) return;
      count();
      if (field.number == 1) {
        into.nodes.push_back(node(field.bytes));
      } else if (field.number == 5) {
        OnnxTensor read = tensor(field.bytes);
        const std::string name = read.name;
        if (!into.initializers.emplace(name, std::move(read)).second)
          fail("{} has two initializers {}", where_, shown(name));
      } else if (field.number == 11) {
        into.inputs.push_back(input(field.bytes));
      } else if (field.number == 12) {
        into.outputs.push_back(input(field.bytes).name);
      } else if (field.number == 15) {
        fail("{}: sparse initializers are not read", where_);
      }
    });
  }

  std::shared_ptr<OnnxGraph> branch(std::span<const std::byte> bytes) {
    const Nesting nested(depth_, kMaxGraphDepth, where_ + ": graphs in graphs");
    auto result = std::make_shared<OnnxGraph>();
    graph(bytes, *result);
    return result;
  }

  OnnxNode node(std::span<const std::byte> bytes) {
    OnnxNode result;
    each(bytes, [&](const WireField& field) {
      if (field.wire != 2) return;
      count();
      switch (field.number) {
        case 1:
          result.inputs.push_back(field.text());
          break;
        case 2:
          result.outputs.push_back(field.text());
          break;
        case 3:
          result.name = field.text();
          break;
        case 4:
          result.op = field.text();
          break;
        case 5:
          result.attributes.push_back(attribute(field.bytes));
          break;
        case 7:
          result.domain = field.text();
          break;
        default:
          break;
      }
    });
    if (result.domain == "ai.onnx") result.domain.clear();
    return result;
  }

  /// A repeated number, packed or by itself.
  void integers(const WireField& field, std::vector<int64_t>& to) {
    if (field.wire == 0) {
      count();
      to.push_back(static_cast<int64_t>(field.value));
      return;
    }
    WireMessage packed(field.bytes, where_, kOnnxKind);
    while (!packed.done()) {
      count();
      to.push_back(static_cast<int64_t>(packed.varint()));
    }
  }

  void numbers(const WireField& field, std::vector<float>& to) {
    for (size_t at = 0; at + 4 <= field.bytes.size(); at += 4) {
      count();
      to.push_back(load<float>(field.bytes.data() + at));
    }
  }

  OnnxAttribute attribute(std::span<const std::byte> bytes) {
    OnnxAttribute result;
    each(bytes, [&](const WireField& field) {
      switch (field.number) {
        case 1:
          result.name = field.text();
          break;
        case 2:
          result.number = field.wire == 5 ? load<float>(field.bytes.data()) : 0.0f;
          break;
        case 3:
          result.integer = static_cast<int64_t>(field.value);
          break;
        case 4:
          result.text = field.text();
          break;
        case 5:
          graph_.constants.push_back(tensor(field.bytes));
          result.tensor = &graph_.constants.back();
          break;
        case 6:
          result.graph = branch(field.bytes);
          break;
        case 7:
          numbers(field, result.numbers);
          break;
        case 8:
          integers(field, result.integers);
          break;
        default:
          break;
      }
    });
    return result;
  }

  OnnxInput input(std::span<const std::byte> bytes) {
    OnnxInput result;
    const auto inside = [&](const WireField& field, uint32_t number, const auto& visit) {
      if (field.number == number && field.wire == 2) each(field.bytes, visit);
    };
    each(bytes, [&](const WireField& field) {
      if (field.number == 1) result.name = field.text();
      inside(field, 2, [&](const WireField& type) {
        inside(type, 1, [&](const WireField& part) {
          if (part.number == 1) result.type = static_cast<OnnxType>(part.value);
          inside(part, 2, [&](const WireField& dim) {
            count();
            result.dims.push_back(0);
            inside(dim, 1, [&](const WireField& value) {
              if (value.number == 1) result.dims.back() = static_cast<int64_t>(value.value);
            });
          });
        });
      });
    });
    return result;
  }

  /// Numbers that the file has one by one, as the bytes of the tensor's type.
  std::span<const std::byte> decode(const std::vector<int64_t>& values, const OnnxTensor& tensor) {
    const uint64_t each_bytes = onnx_type_bytes(tensor.type);
    std::vector<std::byte>& bytes = graph_.decoded.emplace_back(values.size() * each_bytes);
    for (size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * each_bytes], &values[i], each_bytes);
    return bytes;
  }

  void external(std::span<const std::byte> bytes, OnnxTensor& tensor) {
    std::string key, value;
    each(bytes, [&](const WireField& field) { (field.number == 1 ? key : value) = field.text(); });
    count();
    tensor.external[key] = value;
  }

  OnnxTensor tensor(std::span<const std::byte> bytes) {
    OnnxTensor result;
    std::vector<int64_t> dims, values;
    std::vector<float> floats;
    int64_t type = 0;
    bool raw = false;
    each(bytes, [&](const WireField& field) {
      switch (field.number) {
        case 1:
          integers(field, dims);
          break;
        case 2:
          type = static_cast<int64_t>(field.value);
          break;
        case 4:
          if (field.wire == 2 && result.bytes.empty())
            result.bytes = field.bytes;
          else
            numbers(field, floats);
          break;
        case 5:
        case 7:
          integers(field, values);
          break;
        case 8:
          result.name = field.text();
          break;
        case 9:
          result.bytes = field.bytes;
          raw = true;
          break;
        case 10:
          result.bytes = field.bytes;
          break;
        case 13:
          external(field.bytes, result);
          break;
        default:
          break;
      }
    });
    result.type = static_cast<OnnxType>(type);
    if (!raw && !values.empty() && onnx_type_bytes(result.type) != 0) result.bytes = decode(values, result);
    if (!raw && !floats.empty()) {
      const auto data = std::as_bytes(std::span(floats));
      result.bytes = graph_.decoded.emplace_back(data.begin(), data.end());
    }
    check(result, dims);
    return result;
  }

  void check(OnnxTensor& tensor, const std::vector<int64_t>& dims) {
    const std::string what = fmt::format("{}: tensor {}", where_, shown(tensor.name));
    if (dims.size() > kMaxRank) fail("{} has {} dimensions, {} are read", what, dims.size(), kMaxRank);
    for (const int64_t dim : dims) {
      if (dim < 0) fail("{} has a dimension of {}", what, dim);
      tensor.dims.push_back(static_cast<uint64_t>(dim));
    }
    const uint64_t each_bytes = onnx_type_bytes(tensor.type);
    if (each_bytes == 0)
      fail("{} is {}; read are FLOAT, FLOAT16, BFLOAT16, DOUBLE, INT8, UINT8, INT32, INT64 and BOOL", what,
           onnx_type_name(tensor.type));
    const auto count = element_count(tensor.dims);
    uint64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, each_bytes, &bytes)) fail("{} is too large", what);
    if (tensor.external.empty() && bytes != tensor.bytes.size())
      fail("{} has {} bytes, its shape implies {}: the file is damaged", what, tensor.bytes.size(), bytes);
  }

  std::string where_;
  OnnxGraph graph_;
  uint64_t entries_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace

bool is_onnx(std::span<const std::byte> file) {
  // The IR version, the first field that exporters write, and behind it another field of a ModelProto.
  if (file.size() < 4 || file[0] != std::byte{0x08} || file[1] < std::byte{3} || file[1] > std::byte{20})
    return false;
  constexpr uint8_t kTags[] = {0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72};
  return std::find(std::begin(kTags), std::end(kTags), std::to_integer<uint8_t>(file[2])) != std::end(kTags);
}

OnnxGraph parse_onnx(std::span<const std::byte> file, const std::string& where) {
  return OnnxParser(where).model(file);
}

}  // namespace mote::convert
