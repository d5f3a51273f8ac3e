// SPDX-License-Identifier: Apache-2.0
//
// A config.json and, behind a zero byte, a safetensors file: packed matrices put together and every row read,
// as numbers and in the type that holds them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/readers/packed_checkpoint.h"
#include "host/base/error.h"
#include "host/base/json_text.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;

namespace {

constexpr uint64_t kMostElements = 1u << 20;

Source source_of(const NamedTensors& tensors, const PackedFormat& format) {
  Source source;
  NamedTensors packed;
  for (const auto& [name, tensor] : tensors) {
    const SourceType type = tensor.dtype == "F16"    ? SourceType::f16
                            : tensor.dtype == "BF16" ? SourceType::bf16
                                                     : SourceType::f32;
    if (tensor.dtype == "F16" || tensor.dtype == "BF16" || tensor.dtype == "F32") {
      source.tensors[name] = {type, tensor.shape, tensor.bytes.data(), tensor.bytes.size()};
    } else {
      packed[name] = tensor;
    }
  }
  add_packed(source, format, packed);
  return source;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  const auto end = std::find(input.begin(), input.end(), std::byte{0});
  if (end == input.end()) return 0;
  const auto config_bytes = static_cast<size_t>(end - input.begin());
  try {
    const auto config = parse_json_object(input.first(config_bytes), "config", 32);
    const PackedFormat format = read_packed_format(config, "config");
    const NamedTensors tensors = parse_safetensors(input.subspan(config_bytes + 1), "input");
    uint64_t elements = 0;
    for (const auto& [name, tensor] : source_of(tensors, format).tensors) {
      if (tensor.reader == nullptr) continue;
      std::vector<float> row(tensor.cols());
      for (uint64_t r = 0; r < tensor.rows() && elements < kMostElements; ++r, elements += row.size()) {
        read_row(tensor, r, row);
        QuantRow exact;
        if (tensor.reader->has_exact()) read_exact_row(tensor, r, exact);
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
