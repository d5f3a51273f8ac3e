// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/packed_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "converter/module_names.h"
#include "converter/readers/packed_rows.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// A tensor of the packed ones, its shape checked; null where it may be absent and is.
const NamedTensor* find_packed(const NamedTensors& packed, const std::string& name, const char* dtype,
                               const std::vector<uint64_t>& shape, bool required) {
  const auto found = packed.find(name);
  if (found == packed.end()) {
    if (required) fail("tensor {} is missing", name);
    return nullptr;
  }
  const NamedTensor& tensor = found->second;
  if (tensor.dtype != dtype) fail("tensor {} is {}, expected {}", name, tensor.dtype, dtype);
  if (tensor.shape != shape)
    fail("tensor {} has shape [{}], its weight implies [{}]", name, fmt::join(tensor.shape, ", "),
         fmt::join(shape, ", "));
  return &tensor;
}

/// Takes the scales out of the source: [rows, groups], of [groups, rows] if `by_group`.
std::vector<float> take_scales(Source& source, const std::string& name, uint64_t rows, uint64_t groups,
                               bool by_group) {
  const auto found = source.tensors.find(name);
  if (found == source.tensors.end()) fail("tensor {} is missing", name);
  const SourceTensor& tensor = found->second;
  const uint64_t count = tensor.rows() * tensor.cols();
  const bool one = !by_group && count == 1;
  const std::vector<uint64_t> whole = {by_group ? groups : rows, by_group ? rows : groups};
  if (!one && tensor.shape != whole && !(groups == 1 && !by_group && count == rows))
    fail("tensor {} has shape [{}], its weight implies [{}]", name, fmt::join(tensor.shape, ", "),
         fmt::join(whole, ", "));
  std::vector<float> stored(count), scales(rows * groups);
  for (uint64_t row = 0; row < tensor.rows(); ++row)
    read_row(tensor, row, std::span(stored).subspan(row * tensor.cols(), tensor.cols()));
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t g = 0; g < groups; ++g) {
      const float scale = stored[one ? 0 : by_group ? g * rows + row : row * groups + g];
      if (!std::isfinite(scale)) fail("tensor {} holds {} as a scale of row {}", name, scale, row);
      scales[row * groups + g] = scale;
    }
  }
  source.tensors.erase(found);
  return scales;
}

/// The code `index` of 32-bit words whose neighbours are `stride` words apart.
uint32_t code_at(const std::byte* words, uint64_t first, uint64_t stride, uint64_t index, uint32_t bits) {
  const uint64_t codes = 32 / bits;
  const auto word = load<uint32_t>(words + 4 * (first + index / codes * stride));
  return word >> (index % codes * bits) & ((1u << bits) - 1);
}

/// Where AWQ keeps one of eight outputs in an integer.
constexpr std::array<uint8_t, 8> kAwqPlace = {0, 4, 1, 5, 2, 6, 3, 7};

uint32_t awq_code(const std::byte* words, uint64_t rows, uint64_t line, uint64_t row) {
  return load<uint32_t>(words + 4 * (line * (rows / 8) + row / 8)) >> (4 * kAwqPlace[row % 8]) & 15;
}

/// A column's group, where that is not its number over the group's size.
std::vector<uint32_t> unordered_groups(const NamedTensor* index, const std::string& name, uint64_t columns,
                                       uint64_t group, uint64_t groups) {
  std::vector<uint32_t> result;
  bool ordered = true;
  for (uint64_t k = 0; index != nullptr && k < columns; ++k) {
    const auto g = load<int32_t>(index->bytes.data() + 4 * k);
    if (g < 0 || static_cast<uint64_t>(g) >= groups) fail("tensor {} holds {} at {}", name, g, k);
    ordered = ordered && static_cast<uint64_t>(g) == k / group;
    result.push_back(static_cast<uint32_t>(g));
  }
  if (ordered) result.clear();
  return result;
}

class Assembler {
 public:
  Assembler(Source& source, const PackedFormat& format, const NamedTensors& packed)
      : source_(source), format_(format), packed_(packed) {}

  void add(const std::string& name, const NamedTensor& tensor) {
    const auto prefix_before = [&](const char* end) {
      return name.substr(0, name.size() - std::string(end).size());
    };
    const bool gptq = format_.method == PackedMethod::gptq;
    if (format_.by_outputs && name.ends_with(".qweight")) {
      add_by_outputs(prefix_before(".qweight"), tensor);
    } else if ((gptq || format_.method == PackedMethod::awq) && name.ends_with(".qweight")) {
      add_grouped(prefix_before(".qweight"), tensor, gptq);
    } else if (format_.method == PackedMethod::compressed_integers && name.ends_with(".weight_packed")) {
      add_compressed(prefix_before(".weight_packed"), tensor);
    } else if (format_.method == PackedMethod::compressed_bytes && tensor.dtype == "I8" &&
               name.ends_with(".weight")) {
      add_bytes(name, tensor);
    } else if (tensor.dtype == "F8_E4M3") {
      if (format_.method != PackedMethod::compressed_fp8 && format_.method != PackedMethod::fp8)
        fail("tensor {} is F8_E4M3, which the quantization_config does not say", name);
      add_fp8(name, tensor);
    }
  }

 private:
  uint64_t group_of(uint64_t columns) const { return format_.group == 0 ? columns : format_.group; }
  uint64_t groups_of(uint64_t columns) const { return (columns + group_of(columns) - 1) / group_of(columns); }

  static void require_matrix(const std::string& name, const NamedTensor& tensor, const char* dtype) {
    if (tensor.dtype != dtype || tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[1] == 0)
      fail("tensor {} is {} [{}], expected a matrix of {}", name, tensor.dtype, fmt::join(tensor.shape, ", "),
           dtype);
  }

  /// GPTQ's and AWQ's, whose integers lie as [in, out].
  void add_grouped(const std::string& prefix, const NamedTensor& tensor, bool gptq) {
    require_matrix(prefix + ".qweight", tensor, "I32");
    const uint64_t codes = 32 / format_.bits;
    const uint64_t rows = gptq ? tensor.shape[1] : 8 * tensor.shape[1];
    const uint64_t columns = gptq ? codes * tensor.shape[0] : tensor.shape[0];
    const uint64_t groups = groups_of(columns);
    if (rows % codes != 0) fail("tensor {}.qweight has {} outputs, no multiple of {}", prefix, rows, codes);
    const NamedTensor* zeros = find_packed(packed_, prefix + ".qzeros", "I32", {groups, rows / codes}, true);
    const NamedTensor* index = find_packed(packed_, prefix + ".g_idx", "I32", {columns}, false);
    IntegerRows made(rows, columns, group_of(columns));
    made.scales = take_scales(source_, prefix + ".scales", rows, groups, true);
    made.column_groups = unordered_groups(index, prefix + ".g_idx", columns, made.group, groups);
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t g = 0; g < groups; ++g) {
        const uint32_t code = gptq ? code_at(zeros->bytes.data(), g * (rows / codes), 1, row, format_.bits)
                                   : awq_code(zeros->bytes.data(), rows, g, row);
        if (format_.zeros_less_one && code + 1 == 1u << format_.bits)
          fail("tensor {}.qzeros holds {} at [{}, {}], which tools read as two different zeros", prefix, code,
               g, row);
        made.zeros.push_back(static_cast<int16_t>(code + (format_.zeros_less_one ? 1 : 0)));
      }
    }
    const std::byte* words = tensor.bytes.data();
    const uint32_t bits = format_.bits;
    if (gptq) {
      made.integer = [=](uint64_t row, uint64_t k) {
        return static_cast<int>(code_at(words, row, rows, k, bits));
      };
    } else {
      made.integer = [=](uint64_t row, uint64_t k) {
        return static_cast<int>(awq_code(words, rows, k, row));
      };
    }
    made.least = 0;
    made.most = (1 << bits) - 1;
    put(prefix + ".weight", std::move(made));
  }

  /// AWQ's gemv.
  void add_by_outputs(const std::string& prefix, const NamedTensor& tensor) {
    require_matrix(prefix + ".qweight", tensor, "I32");
    const uint64_t rows = tensor.shape[0], words_of_row = tensor.shape[1], columns = 8 * words_of_row;
    const uint64_t groups = groups_of(columns);
    const auto found = packed_.find(prefix + ".qzeros");
    const uint64_t words_of_zeros =
        found == packed_.end() || found->second.shape.size() != 2 ? (groups + 7) / 8 : found->second.shape[1];
    const NamedTensor* zeros = find_packed(packed_, prefix + ".qzeros", "I32", {rows, words_of_zeros}, true);
    if (words_of_zeros < (groups + 7) / 8)
      fail("tensor {}.qzeros has {} zeros for a row, its weight implies {}", prefix, 8 * words_of_zeros,
           groups);
    const std::vector<float> scales =
        take_scales(source_, prefix + ".scales", rows, 8 * words_of_zeros, false);
    IntegerRows made(rows, columns, group_of(columns));
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t g = 0; g < groups; ++g) {
        made.scales.push_back(scales[row * 8 * words_of_zeros + g]);
        made.zeros.push_back(
            static_cast<int16_t>(code_at(zeros->bytes.data(), row * words_of_zeros, 1, g, format_.bits)));
      }
    }
    const std::byte* words = tensor.bytes.data();
    made.integer = [=](uint64_t row, uint64_t k) {
      return static_cast<int>(code_at(words, row * words_of_row, 1, k, 4));
    };
    made.least = 0;
    made.most = 15;
    put(prefix + ".weight", std::move(made));
  }

  void add_compressed(const std::string& prefix, const NamedTensor& tensor) {
    require_matrix(prefix + ".weight_packed", tensor, "I32");
    const auto shape = packed_.find(prefix + ".weight_shape");
    if (shape == packed_.end() || shape->second.dtype != "I64" || shape->second.bytes.size() != 16)
      fail("tensor {}.weight_shape is missing or not two I64", prefix);
    const auto rows = load<uint64_t>(shape->second.bytes.data());
    const auto columns = load<uint64_t>(shape->second.bytes.data() + 8);
    const uint64_t codes = 32 / format_.bits, words_of_row = tensor.shape[1];
    if (rows != tensor.shape[0] || columns > codes * words_of_row || columns + codes <= codes * words_of_row)
      fail("tensor {}.weight_shape is [{}, {}], which [{}] does not hold", prefix, rows, columns,
           fmt::join(tensor.shape, ", "));
    const uint64_t groups = groups_of(columns);
    const NamedTensor* zeros = find_packed(packed_, prefix + ".weight_zero_point", "I32",
                                           {(rows + codes - 1) / codes, groups}, false);
    const NamedTensor* index = find_packed(packed_, prefix + ".weight_g_idx", "I32", {columns}, false);
    IntegerRows made(rows, columns, group_of(columns));
    made.scales = take_scales(source_, prefix + ".weight_scale", rows, groups, false);
    made.column_groups = unordered_groups(index, prefix + ".weight_g_idx", columns, made.group, groups);
    const uint32_t bits = format_.bits;
    const int middle = 1 << (bits - 1);
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t g = 0; g < groups; ++g)
        made.zeros.push_back(static_cast<int16_t>(
            zeros == nullptr ? middle
                             : static_cast<int>(code_at(zeros->bytes.data(), g, groups, row, bits))));
    }
    const std::byte* words = tensor.bytes.data();
    made.integer = [=](uint64_t row, uint64_t k) {
      return static_cast<int>(code_at(words, row * words_of_row, 1, k, bits));
    };
    made.least = 0;
    made.most = 2 * middle - 1;
    put(prefix + ".weight", std::move(made));
  }

  void add_bytes(const std::string& name, const NamedTensor& tensor) {
    require_matrix(name, tensor, "I8");
    const uint64_t rows = tensor.shape[0], columns = tensor.shape[1];
    IntegerRows made(rows, columns, group_of(columns));
    made.scales = take_scales(source_, name + "_scale", rows, groups_of(columns), false);
    made.zeros.assign(made.scales.size(), 0);
    const std::byte* bytes = tensor.bytes.data();
    made.integer = [=](uint64_t row, uint64_t k) {
      return static_cast<int>(load<int8_t>(bytes + row * columns + k));
    };
    made.least = -128;
    made.most = 127;
    made.prefers_row_scale = format_.rounds_activations && !format_.fixed_scales;
    put(name, std::move(made));
  }

  void add_fp8(const std::string& name, const NamedTensor& tensor) {
    require_matrix(name, tensor, "F8_E4M3");
    const uint64_t rows = tensor.shape[0], columns = tensor.shape[1];
    Fp8Rows made{tensor.bytes.data(), columns, 1, columns, {}};
    const bool compressed = format_.method == PackedMethod::compressed_fp8;
    if (compressed && format_.block_rows == 0) {
      made.scales = take_scales(source_, name + "_scale", rows, 1, false);
    } else {
      made.block_rows = format_.block_rows == 0 ? rows : format_.block_rows;
      made.block_columns = format_.block_columns == 0 ? columns : format_.block_columns;
      const auto blocks = [](uint64_t size, uint64_t block) { return (size + block - 1) / block; };
      made.scales = take_scales(source_, name + (compressed ? "_scale" : "_scale_inv"),
                                blocks(rows, made.block_rows), blocks(columns, made.block_columns), false);
    }
    source_.tensors[name] = {SourceType::fp8, {rows, columns}, nullptr, 0};
    source_.tensors[name].reader = std::make_shared<Fp8Rows>(std::move(made));
    round_input(name);
  }

  void put(const std::string& name, IntegerRows made) {
    if (source_.tensors.count(name) != 0) fail("tensor {} is there twice, quantized and not", name);
    const std::vector<uint64_t> shape = {made.rows, made.columns};
    const SourceType type = made.settle_type();
    SourceTensor& tensor = source_.tensors[name] = {type, shape, nullptr, 0};
    tensor.reader = std::make_shared<IntegerRows>(std::move(made));
    tensor.is_linear = true;
    round_input(name);
  }

  /// Has the matrix's input rounded by the scale that the file has of it.
  void round_input(const std::string& weight) {
    if (!format_.fixed_scales) return;
    const std::string module = weight.substr(0, weight.rfind('.') + 1);
    const bool other = source_.tensors.count(module + "activation_scale") != 0;
    const std::string name = module + (other ? "activation_scale" : "input_scale");
    const float scale = take_scales(source_, name, 1, 1, false)[0];
    if (!(scale > 0.0f)) fail("tensor {} holds {}, which is no scale", name, scale);
    InputRounding rounding{Rounding::e4m3, scale, -kMostE4m3, kMostE4m3};
    if (!format_.rounds_to_floats) {
      const auto zero = packed_.find(module + "input_zero_point");
      if (zero != packed_.end() && (zero->second.dtype != "I8" || zero->second.bytes.size() != 1))
        fail("tensor {} is {} of {} bytes, expected an I8", zero->first, zero->second.dtype,
             zero->second.bytes.size());
      const int middle = zero == packed_.end() ? 0 : load<int8_t>(zero->second.bytes.data());
      rounding = {Rounding::integer, scale, static_cast<float>(-128 - middle),
                  static_cast<float>(127 - middle)};
    }
    source_.tensors[weight].input_rounding = rounding;
  }

  Source& source_;
  const PackedFormat& format_;
  const NamedTensors& packed_;
};

/// Modules that a name starts or ends.
class PlainModules {
 public:
  explicit PlainModules(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      starts_.add(name);
      ends_.add(std::string(name.rbegin(), name.rend()));
    }
  }
  bool has(const std::string& module) const {
    return starts_.any_of(module) || ends_.any_of(std::string(module.rbegin(), module.rend()));
  }

 private:
  NameStarts starts_, ends_;  // ends_: from the last letter on
};

}  // namespace

void round_to_ternary(Source& source, const PackedFormat& format) {
  constexpr std::string_view kEnd = ".weight";
  const PlainModules plain(format.plain_modules);
  for (auto& [name, tensor] : source.tensors) {
    if (!name.ends_with(kEnd) || tensor.shape.size() != 2 || name.find("layers.") == std::string::npos ||
        plain.has(name.substr(0, name.size() - kEnd.size())))
      continue;
    auto made = std::make_shared<TernaryRows>(tensor);
    tensor = {SourceType::ternary, tensor.shape, nullptr, 0};
    tensor.reader = std::move(made);
    tensor.is_linear = true;
  }
}

void add_packed(Source& source, const PackedFormat& format, const NamedTensors& packed) {
  Assembler assembler(source, format, packed);
  for (const auto& [name, tensor] : packed) assembler.add(name, tensor);
}

}  // namespace mote::convert
