// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/onnx/onnx_file.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "schema/bf16.h"
#include "schema/f16.h"

namespace mote::convert {

namespace {

struct ElementType {
  OnnxType type;
  uint64_t bytes;
  double (*value)(const std::byte* at);
};

template <typename T>
constexpr ElementType element(OnnxType type) {
  return {type, sizeof(T), [](const std::byte* at) { return static_cast<double>(load<T>(at)); }};
}

constexpr ElementType kElementTypes[] = {
    element<float>(OnnxType::f32),
    element<uint8_t>(OnnxType::u8),
    element<int8_t>(OnnxType::i8),
    element<int32_t>(OnnxType::i32),
    element<int64_t>(OnnxType::i64),
    element<uint8_t>(OnnxType::boolean),
    element<double>(OnnxType::f64),
    {OnnxType::f16, 2, [](const std::byte* at) { return double{f32_from_f16(load<uint16_t>(at))}; }},
    {OnnxType::bf16, 2, [](const std::byte* at) { return double{f32_from_bf16({load<uint16_t>(at)})}; }},
};

/// Null for a type that is not read.
const ElementType* find_type(OnnxType type) {
  const auto* const found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                         [&](const ElementType& row) { return row.type == type; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

}  // namespace

uint64_t onnx_type_bytes(OnnxType type) {
  const ElementType* const found = find_type(type);
  return found == nullptr ? 0 : found->bytes;
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
  const ElementType* const found = find_type(type);
  return found == nullptr ? 0.0 : found->value(bytes.data() + index * found->bytes);
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
