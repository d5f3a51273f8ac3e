// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"
#include "host/base/output_file.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library

struct Dtype {
  std::string_view name;
  uint64_t bytes;
};
constexpr Dtype kDtypes[] = {{"BOOL", 1},    {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                             {"F8_E8M0", 1}, {"U16", 2}, {"I16", 2}, {"F16", 2},     {"BF16", 2},
                             {"U32", 4},     {"I32", 4}, {"F32", 4}, {"U64", 8},     {"I64", 8},
                             {"F64", 8},     {"C64", 8}};

/// Bytes of an element; 0 for a type that the format does not have.
uint64_t dtype_bytes(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](auto& d) { return d.name == name; });
  return found == std::end(kDtypes) ? 0 : found->bytes;
}

std::vector<uint64_t> numbers(const nlohmann::json& entry, const char* key, const JsonFile& header) {
  std::vector<uint64_t> result;
  for (const auto& value : header.list(entry, key)) result.push_back(header.size(value, key));
  return result;
}

NamedTensor parse_entry(const nlohmann::json& entry, std::span<const std::byte> data,
                        const std::string& what) {
  if (!entry.is_object()) fail("{}: the header's entry is not an object", what);
  const JsonFile header(what);
  NamedTensor tensor{header.text(entry, "dtype"), numbers(entry, "shape", header), {}};
  const uint64_t element_bytes = dtype_bytes(tensor.dtype);
  if (element_bytes == 0) fail("{} has the unknown dtype '{}'", what, shown(tensor.dtype));

  const std::vector<uint64_t> offsets = numbers(entry, "data_offsets", header);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) fail("{}: 'data_offsets' must be [begin, end]", what);
  if (offsets[1] > data.size()) {
    fail("{} ends at byte {} of the data, which has {}: the file is cut or damaged, fetch it again", what,
         offsets[1], data.size());
  }
  const uint64_t bytes = offsets[1] - offsets[0];
  const auto elements = element_count(tensor.shape);
  if (!elements || bytes % element_bytes != 0 || bytes / element_bytes != *elements) {
    fail("{}: shape and dtype do not make the {} bytes that it has", what, bytes);
  }
  tensor.bytes = data.subspan(offsets[0], bytes);
  return tensor;
}

/// The 8-byte length and the JSON header; `names` in the order of their data.
std::string make_header(const NamedTensors& tensors, const std::vector<std::string>& names) {
  auto header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const std::string& name : names) {
    const NamedTensor& tensor = tensors.at(name);
    const uint64_t end = offset + tensor.bytes.size();
    header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned to 8 bytes
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace

NamedTensors parse_safetensors(std::span<const std::byte> file, const std::string& where) {
  if (file.size() < 8) fail("{}: {} bytes are too few for a safetensors file", where, file.size());
  const auto header_bytes = load<uint64_t>(file.data());
  if (header_bytes > kMaxHeaderBytes) {
    fail("{}: header of {} bytes, more than safetensors allows: not a safetensors file?", where,
         header_bytes);
  }
  if (header_bytes > file.size() - 8) {
    fail("{}: the header needs {} bytes, the file has {}: it is cut, fetch it again", where, header_bytes,
         file.size() - 8);
  }
  constexpr int kHeaderDepth = 3;  // the object, a tensor's object, its lists
  const auto header = parse_json_object(file.subspan(8, header_bytes), where + ": header", kHeaderDepth);
  NamedTensors tensors;
  const auto data = file.subspan(8 + header_bytes);
  uint64_t left = data.size();
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const NamedTensor& tensor = tensors[name] = parse_entry(entry, data, where + ": tensor " + shown(name));
    if (tensor.bytes.size() > left)  // what is made of them would be larger than the file
      fail("{}: the tensors up to {} take more than the {} bytes of data: some overlap", where, shown(name),
           data.size());
    left -= tensor.bytes.size();
  }
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), tensors_(parse_safetensors(file_.bytes(), path.string())) {}

const NamedTensor& SafetensorsFile::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail("{}: no tensor '{}'", file_.path().string(), name);
  return found->second;
}

std::span<const std::byte> SafetensorsFile::find(const std::string& name, const char* dtype) const {
  const NamedTensor& tensor = find(name);
  if (tensor.dtype != dtype) {
    fail("{}: tensor '{}' is {}, expected {}", file_.path().string(), name, tensor.dtype, dtype);
  }
  return tensor.bytes;
}

std::vector<float> SafetensorsFile::f32(const std::string& name) const {
  const auto bytes = find(name, "F32");
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<int64_t> SafetensorsFile::i64(const std::string& name) const {
  const auto bytes = find(name, "I64");
  std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

NamedTensor f32_tensor(std::vector<uint64_t> shape, std::span<const float> values) {
  return {"F32", std::move(shape), std::as_bytes(values)};
}

NamedTensor i64_tensor(std::vector<uint64_t> shape, std::span<const int64_t> values) {
  return {"I64", std::move(shape), std::as_bytes(values)};
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    const auto elements = element_count(tensor.shape);
    const uint64_t element_bytes = dtype_bytes(tensor.dtype);
    if (!elements || element_bytes == 0 || tensor.bytes.size() % element_bytes != 0 ||
        tensor.bytes.size() / element_bytes != *elements) {
      fail("{}: tensor '{}' has {} bytes, which is not its shape of {}", path.string(), name,
           tensor.bytes.size(), tensor.dtype);
    }
    names.push_back(name);
  }
  // Wide elements first: then every tensor is aligned to its element.
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return dtype_bytes(tensors.at(a).dtype) > dtype_bytes(tensors.at(b).dtype);
  });
  const std::string header = make_header(tensors, names);
  OutputFile file(path);
  file.write_at(0, std::as_bytes(std::span(header)));
  uint64_t offset = header.size();
  for (const std::string& name : names) {
    file.write_at(offset, tensors.at(name).bytes);
    offset += tensors.at(name).bytes.size();
  }
  file.commit();
}

}  // namespace mote::convert
