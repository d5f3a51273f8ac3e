// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/gguf_file.h"

#include <array>
#include <utility>

#include "converter/readers/ggml_blocks.h"
#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint64_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};  // by GgufType; 0: of any length

constexpr uint32_t kMaxDims = 4;  // ggml's own limit
constexpr int kMaxArrayDepth = 4;
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kLeastKeyBytes = 8 + 4 + 1, kLeastTensorBytes = 8 + 4 + 8 + 4 + 8;

/// By ggml's number; those without a SourceType are named in messages only.
struct GgmlType {
  const char* name;
  int source_type;  // -1: not read
};
constexpr int read_as(SourceType type) { return static_cast<int>(type); }
constexpr GgmlType kGgmlTypes[] = {{"F32", read_as(SourceType::f32)},
                                   {"F16", read_as(SourceType::f16)},
                                   {"Q4_0", read_as(SourceType::q4_0)},
                                   {"Q4_1", read_as(SourceType::q4_1)},
                                   {"Q4_2", -1},
                                   {"Q4_3", -1},
                                   {"Q5_0", read_as(SourceType::q5_0)},
                                   {"Q5_1", read_as(SourceType::q5_1)},
                                   {"Q8_0", read_as(SourceType::q8_0)},
                                   {"Q8_1", -1},
                                   {"Q2_K", read_as(SourceType::q2_k)},
                                   {"Q3_K", read_as(SourceType::q3_k)},
                                   {"Q4_K", read_as(SourceType::q4_k)},
                                   {"Q5_K", read_as(SourceType::q5_k)},
                                   {"Q6_K", read_as(SourceType::q6_k)},
                                   {"Q8_K", -1},
                                   {"IQ2_XXS", -1},
                                   {"IQ2_XS", -1},
                                   {"IQ3_XXS", -1},
                                   {"IQ1_S", -1},
                                   {"IQ4_NL", read_as(SourceType::iq4_nl)},
                                   {"IQ3_S", -1},
                                   {"IQ2_S", -1},
                                   {"IQ4_XS", -1},
                                   {"I8", -1},
                                   {"I16", -1},
                                   {"I32", -1},
                                   {"I64", -1},
                                   {"F64", -1},
                                   {"IQ1_M", -1},
                                   {"BF16", read_as(SourceType::bf16)},
                                   {"Q4_0_4_4", -1},
                                   {"Q4_0_4_8", -1},
                                   {"Q4_0_8_8", -1},
                                   {"TQ1_0", -1},
                                   {"TQ2_0", -1},
                                   {"IQ4_NL_4_4", -1},
                                   {"IQ4_NL_4_8", -1},
                                   {"IQ4_NL_8_8", -1},
                                   {"MXFP4", read_as(SourceType::mxfp4)}};

class Parser {
 public:
  Parser(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  GgufFile parse() {
    skip(4, "magic");
    const auto version = number<uint32_t>("version");
    if (version != 2 && version != 3) {
      const bool swapped = __builtin_bswap32(version) == 2 || __builtin_bswap32(version) == 3;
      fail("{}: GGUF version {} is not read{}", where_, swapped ? __builtin_bswap32(version) : version,
           swapped ? " in big-endian: convert it to little-endian"
                   : ": versions 2 and 3 are, convert it again");
    }
    const auto tensors = count(kLeastTensorBytes, "tensors");
    const auto keys = count(kLeastKeyBytes, "metadata keys");
    for (uint64_t i = 0; i < keys; ++i) read_key();
    const uint64_t alignment = read_alignment();
    for (uint64_t i = 0; i < tensors; ++i) read_tensor(alignment);
    place_tensors(alignment);
    return std::move(result_);
  }

 private:
  struct Placement {
    std::string name;
    uint64_t offset;
  };

  uint64_t left() const { return file_.size() - at_; }

  std::span<const std::byte> skip(uint64_t bytes, const char* what) {
    if (bytes > left()) {
      fail("{}: {} at byte {} needs {} bytes, {} are left: the file is cut or damaged, fetch it again",
           where_, what, at_, bytes, left());
    }
    const auto result = file_.subspan(at_, bytes);
    at_ += bytes;
    return result;
  }

  template <class T>
  T number(const char* what) {
    return load<T>(skip(sizeof(T), what).data());
  }

  std::string_view string(const char* what) {
    const auto bytes = skip(number<uint64_t>(what), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// A count of things of at least `least_bytes` each: no more than the file has room for.
  uint64_t count(uint64_t least_bytes, const char* what) {
    const auto value = number<uint64_t>(what);
    if (value > left() / least_bytes) {
      fail("{}: {} {} do not fit the file's {} bytes: it is cut or damaged, fetch it again", where_, value,
           what, file_.size());
    }
    return value;
  }

  void read_key() {
    std::string key(string("metadata key"));
    const uint64_t at = at_;
    GgufValue value = read_value(static_cast<GgufType>(number<uint32_t>("value type")), 0);
    if (!result_.metadata.emplace(key, value).second) {
      fail("{}: metadata key '{}' occurs twice (byte {})", where_, shown(key), at);
    }
  }

  GgufValue read_value(GgufType type, int depth) {
    switch (type) {
      case GgufType::u8:
        return int64_t{number<uint8_t>("value")};
      case GgufType::i8:
        return int64_t{number<int8_t>("value")};
      case GgufType::u16:
        return int64_t{number<uint16_t>("value")};
      case GgufType::i16:
        return int64_t{number<int16_t>("value")};
      case GgufType::u32:
        return int64_t{number<uint32_t>("value")};
      case GgufType::i32:
        return int64_t{number<int32_t>("value")};
      case GgufType::i64:
        return number<int64_t>("value");
      case GgufType::u64: {
        const auto value = number<uint64_t>("value");
        if (value > INT64_MAX) return value;
        return static_cast<int64_t>(value);
      }
      case GgufType::f32:
        return double{number<float>("value")};
      case GgufType::f64:
        return number<double>("value");
      case GgufType::flag:
        return number<uint8_t>("value") != 0;
      case GgufType::string:
        return string("string");
      case GgufType::array:
        return read_array(depth);
      default:
        fail("{}: unknown metadata type {} before byte {}", where_, static_cast<uint32_t>(type), at_);
    }
  }

  GgufArray read_array(int depth) {
    if (depth >= kMaxArrayDepth)
      fail("{}: arrays nested deeper than {} at byte {}", where_, kMaxArrayDepth, at_);
    const auto number_of_type = number<uint32_t>("array type");
    if (number_of_type >= std::size(kValueBytes))
      fail("{}: unknown array type {} before byte {}", where_, number_of_type, at_);
    const auto type = static_cast<GgufType>(number_of_type);
    constexpr uint64_t kLeastString = 8, kLeastArray = 12;
    const uint64_t fixed = kValueBytes[number_of_type];
    const auto elements = count(fixed != 0                 ? fixed
                                : type == GgufType::string ? kLeastString
                                                           : kLeastArray,
                                "array elements");
    const uint64_t begin = at_;
    if (fixed != 0) {
      skip(elements * fixed, "array");
    } else {
      for (uint64_t i = 0; i < elements; ++i) read_value(type, depth + 1);
    }
    return {type, elements, file_.subspan(begin, at_ - begin)};
  }

  uint64_t read_alignment() const {
    const auto found = result_.metadata.find("general.alignment");
    if (found == result_.metadata.end()) return 32;
    const auto* value = std::get_if<int64_t>(&found->second);
    if (value == nullptr || *value < 1 || static_cast<uint64_t>(*value) > kMaxAlignment ||
        (*value & (*value - 1)) != 0) {
      fail("{}: general.alignment must be a power of two of at most {}", where_, kMaxAlignment);
    }
    return static_cast<uint64_t>(*value);
  }

  void read_tensor(uint64_t alignment) {
    std::string name(string("tensor name"));
    const std::string what = where_ + ": tensor " + shown(name);
    const auto dims = number<uint32_t>("dimensions");
    if (dims < 1 || dims > kMaxDims) fail("{} has {} dimensions, 1 to {} are allowed", what, dims, kMaxDims);
    SourceTensor tensor{};
    tensor.shape.resize(dims);
    for (uint32_t i = dims; i-- > 0;)
      tensor.shape[i] = number<uint64_t>("dimension");  // stored innermost first
    tensor.type = source_type(number<uint32_t>("tensor type"), what);
    const auto offset = number<uint64_t>("offset");

    const BlockLayout& layout = block_layout(tensor.type);
    const auto elements = element_count(tensor.shape);
    if (!elements || *elements == 0) fail("{} has an impossible shape", what);
    if (tensor.shape.back() % layout.elements != 0) {
      fail("{}: rows of {} elements do not divide into {} blocks of {}", what, tensor.shape.back(),
           layout.name, layout.elements);
    }
    if (__builtin_mul_overflow(*elements / layout.elements, uint64_t{layout.bytes}, &tensor.bytes)) {
      fail("{} has an impossible shape", what);
    }
    if (offset % alignment != 0) fail("{}: offset {} is not a multiple of {}", what, offset, alignment);
    if (!result_.tensors.emplace(name, std::move(tensor)).second) fail("{} occurs twice", what);
    placements_.push_back({std::move(name), offset});
  }

  SourceType source_type(uint32_t type, const std::string& what) const {
    if (type >= std::size(kGgmlTypes)) fail("{} has the unknown ggml type {}", what, type);
    if (kGgmlTypes[type].source_type < 0) {
      fail(
          "{} has the type {}, which is not read: take a file in Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to Q6_K, "
          "F16, BF16 "
          "or F32",
          what, kGgmlTypes[type].name);
    }
    return static_cast<SourceType>(kGgmlTypes[type].source_type);
  }

  /// Offsets count from the end of the header, rounded up to the alignment.
  void place_tensors(uint64_t alignment) {
    if (placements_.empty()) return;
    const uint64_t padding = (alignment - at_ % alignment) % alignment;
    skip(padding, "padding");
    uint64_t free = left();
    for (const auto& [name, offset] : placements_) {
      SourceTensor& tensor = result_.tensors[name];
      if (offset > left() || tensor.bytes > left() - offset) {
        fail(
            "{}: tensor {} needs {} bytes at offset {} of the data, which has {}: the file is cut or "
            "damaged, fetch it "
            "again",
            where_, shown(name), tensor.bytes, offset, left());
      }
      if (tensor.bytes > free)  // what is made of them would be larger than the file
        fail("{}: the tensors up to {} take more than the {} bytes of data: some overlap", where_,
             shown(name), left());
      free -= tensor.bytes;
      tensor.data = file_.data() + at_ + offset;
    }
  }

  std::span<const std::byte> file_;
  const std::string& where_;
  uint64_t at_ = 0;
  GgufFile result_;
  std::vector<Placement> placements_;
};

}  // namespace

bool is_gguf(std::span<const std::byte> file) {
  return file.size() >= 4 && std::memcmp(file.data(), "GGUF", 4) == 0;
}

GgufFile parse_gguf(std::span<const std::byte> file, const std::string& where) {
  return Parser(file, where).parse();
}

}  // namespace mote::convert
