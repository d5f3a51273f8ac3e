// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/error.h"
#include "converter/onnx/onnx_file.h"
#include "converter/readers/bytes.h"
#include "schema/f16.h"

namespace mote::convert {

uint64_t onnx_type_bytes(OnnxType type) {
  switch (type) {
    case OnnxType::u8:
    case OnnxType::i8:
    case OnnxType::boolean:
      return 1;
    case OnnxType::f16:
    case OnnxType::bf16:
      return 2;
    case OnnxType::f32:
    case OnnxType::i32:
      return 4;
    case OnnxType::f64:
    case OnnxType::i64:
      return 8;
  }
  return 0;
}

std::string onnx_type_name(OnnxType type) {
  constexpr const char* kNames[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                    "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                    "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
  const auto index = static_cast<int32_t>(type);
  if (index < 0 || index >= static_cast<int32_t>(std::size(kNames))) return fmt::format("type {}", index);
  return kNames[index];
}

uint64_t OnnxTensor::size() const { return *element_count(dims); }

double OnnxTensor::value(uint64_t index) const {
  const std::byte* at = bytes.data() + index * onnx_type_bytes(type);
  switch (type) {
    case OnnxType::f32:
      return load<float>(at);
    case OnnxType::f64:
      return load<double>(at);
    case OnnxType::f16:
      return f32_from_f16(load<uint16_t>(at));
    case OnnxType::bf16:
      return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(at)) << 16);
    case OnnxType::u8:
    case OnnxType::boolean:
      return load<uint8_t>(at);
    case OnnxType::i8:
      return load<int8_t>(at);
    case OnnxType::i32:
      return load<int32_t>(at);
    case OnnxType::i64:
      return static_cast<double>(load<int64_t>(at));
  }
  return 0.0;
}

const OnnxAttribute* OnnxNode::find(const std::string& key) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const OnnxAttribute& attribute) { return attribute.name == key; });
  return found == attributes.end() ? nullptr : &*found;
}

int64_t OnnxNode::integer(const std::string& key, int64_t fallback) const {
  const OnnxAttribute* found = find(key);
  return found == nullptr ? fallback : found->integer;
}

float OnnxNode::number(const std::string& key, float fallback) const {
  const OnnxAttribute* found = find(key);
  return found == nullptr ? fallback : found->number;
}

}  // namespace mote::convert
