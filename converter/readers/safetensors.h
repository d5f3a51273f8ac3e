// SPDX-License-Identifier: Apache-2.0
//
// Safetensors files: an 8-byte length, a JSON header of names, types, shapes and offsets, then the data.
//
//   SafetensorsFile file("golden.safetensors");
//   std::vector<int64_t> ids = file.i64("input_ids");
//   write_safetensors("out.safetensors", {{"logits", f32_tensor({rows, vocab}, logits)}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// A view; whoever made it owns the bytes.
struct NamedTensor {
  std::string dtype;                 // "F32", "I64" and so on
  std::vector<uint64_t> shape;       // outermost first, empty for a scalar
  std::span<const std::byte> bytes;  // dense, little-endian, any alignment
};
using NamedTensors = std::map<std::string, NamedTensor>;

/// The tensors of a whole file's bytes, every length and offset checked. `where` names it in messages. Throws
/// Error.
NamedTensors parse_safetensors(std::span<const std::byte> file, const std::string& where);

/// A mapped file, for inputs and outputs of models. All members throw Error.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  const NamedTensors& tensors() const { return tensors_; }
  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::vector<uint64_t>& shape(const std::string& name) const { return find(name).shape; }
  std::vector<float> f32(const std::string& name) const;    // must be stored as F32
  std::vector<int64_t> i64(const std::string& name) const;  // must be stored as I64

 private:
  const NamedTensor& find(const std::string& name) const;
  std::span<const std::byte> find(const std::string& name, const char* dtype) const;

  MappedFile file_;
  NamedTensors tensors_;
};

/// Views of the values, which must outlive them.
NamedTensor f32_tensor(std::vector<uint64_t> shape, std::span<const float> values);
NamedTensor i64_tensor(std::vector<uint64_t> shape, std::span<const int64_t> values);

/// Written under a temporary name beside `path` and renamed when complete. Throws Error (a full disk, say),
/// after which nothing is left behind.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace mote::convert
