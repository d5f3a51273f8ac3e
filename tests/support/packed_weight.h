// SPDX-License-Identifier: Apache-2.0
//
// Random weights [N, K] in P16K4 and random quantized activation rows, with their values in double precision.
// The layout is computed here from byte offsets, independently of the structs that kernels use.
#pragma once

#include "tests/support/kernel_test.h"

namespace mote::testing {

/// Quantized values: any, or all at the end of the type's range (-128, nibble 0; 127, nibble 15); of
/// activations also such that two or four neighbours add up to about 128, the most that products with any
/// byte leave in int16, or with two at one end and two at the other, so that sums of every other two are the
/// largest there are. Quantized activations begin at -127; what nothing quantized may be -128, all of it
/// (least), or any byte, in padding too, half of them at an end (any_byte).
enum class Fill { random, lowest, highest, near_limit, opposed, least, any_byte };

/// Of any_byte.
inline int any_byte(Random& random) {
  const int ends[] = {-128, -128, -127, 127};
  return random.below(2) == 0 ? ends[random.below(4)] : static_cast<int>(random.below(256)) - 128;
}

inline bool has_minimum(DType dtype) {
  return dtype == DType::q4mg32 || dtype == DType::q4k || dtype == DType::q5k;
}

/// Whether scales are integers in units for 256 columns.
inline bool is_wide(DType dtype) { return dtype == DType::q4k || dtype == DType::q5k || dtype == DType::q6k; }

class PackedWeight {
 public:
  PackedWeight(DType dtype, uint32_t rows, uint32_t cols, Random& random, Fill fill = Fill::random)
      : dtype_(dtype), rows_(rows), cols_(cols), buffer_(packed_bytes(dtype, rows, cols), Edge::end) {
    memset(buffer_.data(), 0, buffer_.bytes());
    for (uint32_t n = 0; n < align_up(rows, kPanelRows); ++n) {
      for (uint32_t g = 0; g < groups(); ++g) {
        if (n >= rows) continue;
        if (wide()) set_steps(n, g, random);
        set_scale(n, g, random.uniform(-0.02f, 0.02f) / (wide() ? 32 : 1));
        if (has_minimum(dtype)) set_minimum(n, g, random.uniform(-0.1f, 0.1f) / (wide() ? 32 : 1));
      }
      for (uint32_t k = 0; k < padded_cols(); ++k) set_random(n, k, random, fill);
    }
  }

  const void* data() const { return buffer_.data(); }
  DType dtype() const { return dtype_; }
  uint32_t rows() const { return rows_; }
  uint32_t cols() const { return cols_; }

  double value(uint32_t n, uint32_t k) const {
    switch (dtype_) {
      case DType::f32:
        return get<float>(element_offset(n, k));
      case DType::f16:
        return f32_from_f16(get<uint16_t>(element_offset(n, k)));
      case DType::q8g32:
        return scale(n, k) * get<int8_t>(byte_offset(n, k));
      case DType::q4g32:
        return scale(n, k) * (nibble(n, k) - 8);
      case DType::q4mg32:
        return scale(n, k) * nibble(n, k) + minimum(n, k);
      case DType::q8c:
        return static_cast<double>(get<float>(scale_offset(n, 0))) * get<int8_t>(byte_offset(n, k));
      case DType::q4k:
      case DType::q5k:
        return scale(n, k) * steps(n, k) * wide_q(n, k) + minimum(n, k) * steps(n, k, 6);
      case DType::q6k:
        return scale(n, k) * get<int8_t>(q6k_step_offset(n, k)) * (wide_q(n, k) - 32);
      case DType::bf16:  // of no weight
      case DType::i8:
        break;
    }
    return 0;
  }

  /// f32 and f16 only.
  void set(uint32_t n, uint32_t k, float value) {
    if (dtype_ == DType::f32) {
      put(element_offset(n, k), value);
    } else {
      put(element_offset(n, k), f16_from_f32(value));
    }
  }
  /// Quantized types only; g is the group of 32 columns, in q8c of no meaning.
  void set_scale(uint32_t n, uint32_t g, float scale) {
    if (dtype_ == DType::q8c) {
      put(scale_offset(n, g), scale);
    } else if (quantized()) {
      put(scale_offset(n, g), f16_from_f32(scale));
    }
  }
  void set_minimum(uint32_t n, uint32_t g, float minimum) {
    put(scale_offset(n, g) + (wide() ? 32 : 64), f16_from_f32(minimum));
  }

 private:
  bool quantized() const { return dtype_ != DType::f32 && dtype_ != DType::f16; }
  uint32_t padded_cols() const { return quantized() ? static_cast<uint32_t>(align_up(cols_, 64)) : cols_; }
  uint32_t groups() const { return quantized() ? padded_cols() / 32 : 0; }

  size_t panel(uint32_t n) const { return n / 16 * panel_bytes(dtype_, cols_); }
  size_t element_offset(uint32_t n, uint32_t k) const {
    return panel(n) + (k * 16 + n % 16) * (dtype_ == DType::f32 ? 4 : 2);
  }
  size_t supercell(uint32_t n, uint32_t g) const {
    const size_t bytes = dtype_ == DType::q8g32 ? 64 + 1024 : dtype_ == DType::q4g32 ? 64 + 512 : 128 + 512;
    return panel(n) + g / 2 * bytes;
  }
  size_t scale_offset(uint32_t n, uint32_t g) const {
    if (dtype_ == DType::q8c) return panel(n) + n % 16 * 4;
    if (wide()) return wide_cell(n, 32 * g) + (dtype_ == DType::q6k ? 256 : 0) + n % 16 * 2;
    return supercell(n, g) + g % 2 * 32 + n % 16 * 2;
  }
  /// Of the byte that holds the element.
  size_t byte_offset(uint32_t n, uint32_t k) const {
    const uint32_t group = k % 64 / 32, in_group = k % 32, row = n % 16;
    if (dtype_ == DType::q8c) return panel(n) + 64 + 64 * (k / 4) + 4 * row + k % 4;
    if (dtype_ == DType::q8g32) {
      return supercell(n, k / 32) + 64 + 512 * group + 64 * (in_group / 4) + 4 * row + in_group % 4;
    }
    if (wide()) return wide_group(n, k) + 64 * (in_group / 8) + 4 * row + in_group % 4;
    const size_t header = dtype_ == DType::q4g32 ? 64 : 128;
    return supercell(n, k / 32) + header + 256 * group + 64 * (in_group / 8) + 4 * row + in_group % 4;
  }

  // ---- Supercells of 256 columns: a head, then groups of 256 bytes of nibbles and those of higher bits ----

  bool wide() const { return is_wide(dtype_); }
  size_t wide_head() const { return dtype_ == DType::q6k ? 320 : 256; }
  size_t wide_group_bytes() const {
    return dtype_ == DType::q4k ? 256 : dtype_ == DType::q5k ? 256 + 64 : 256 + 128;
  }
  size_t wide_cell(uint32_t n, uint32_t k) const {
    return panel(n) + k / 256 * (wide_head() + 8 * wide_group_bytes());
  }
  size_t wide_group(uint32_t n, uint32_t k) const {
    return wide_cell(n, k) + wide_head() + k % 256 / 32 * wide_group_bytes();
  }
  /// Of the byte with a column's bits above the lowest four, and their place in it.
  size_t high_offset(uint32_t n, uint32_t k) const {
    const size_t plane = dtype_ == DType::q5k ? 0 : k % 32 / 16;
    return wide_group(n, k) + 256 + 64 * plane + n % 16 * 4 + k % 4;
  }
  uint32_t high_place(uint32_t k) const { return dtype_ == DType::q5k ? k % 32 / 4 : k % 16 / 4 * 2; }
  int wide_q(uint32_t n, uint32_t k) const {
    if (dtype_ == DType::q4k) return nibble(n, k);
    const int high = get<uint8_t>(high_offset(n, k)) >> high_place(k);
    return nibble(n, k) + 16 * (high % (dtype_ == DType::q5k ? 2 : 4));
  }
  void set_high(uint32_t n, uint32_t k, uint32_t high) {
    const uint32_t mask = (dtype_ == DType::q5k ? 1u : 3u) << high_place(k);
    const uint32_t old = get<uint8_t>(high_offset(n, k));
    put(high_offset(n, k), static_cast<uint8_t>((old & ~mask) | (high << high_place(k) & mask)));
  }

  /// Byte `byte` of the three that hold the steps of the pair of groups of column k.
  size_t step_offset(uint32_t n, uint32_t k, uint32_t byte) const {
    const uint32_t pair = k % 256 / 64;
    return wide_cell(n, k) + 64 + n % 16 * 4 + (pair < 3 ? 64 * pair + byte : 64 * byte + 3);
  }
  int steps(uint32_t n, uint32_t k, uint32_t from = 0) const {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 3; ++i) bits |= uint32_t{get<uint8_t>(step_offset(n, k, i))} << (8 * i);
    return static_cast<int>(bits >> (k % 64 / 32 * 12 + from) & 63);
  }
  size_t q6k_step_offset(uint32_t n, uint32_t k) const {
    return wide_cell(n, k) + k % 256 / 64 * 64 + n % 16 * 4 + k % 64 / 16;
  }
  /// Any, now and then the largest.
  void set_steps(uint32_t n, uint32_t g, Random& random) {
    if (dtype_ == DType::q6k) {
      for (uint32_t k = 32 * g; k < 32 * g + 32; k += 16) {
        const int any = static_cast<int>(random.below(256)) - 128;
        put(q6k_step_offset(n, k), static_cast<int8_t>(random.below(8) == 0 ? -128 : any));
      }
    } else if (g % 2 == 0) {
      for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t any = random.below(8) == 0 ? 255 : random.below(256);
        put(step_offset(n, 32 * g, i), static_cast<uint8_t>(any));
      }
    }
  }

  double scale(uint32_t n, uint32_t k) const { return f32_from_f16(get<uint16_t>(scale_offset(n, k / 32))); }
  double minimum(uint32_t n, uint32_t k) const {
    return f32_from_f16(get<uint16_t>(scale_offset(n, k / 32) + (wide() ? 32 : 64)));
  }
  int nibble(uint32_t n, uint32_t k) const {
    const int byte = get<uint8_t>(byte_offset(n, k));
    return k % 8 < 4 ? byte % 16 : byte / 16;
  }

  void set_random(uint32_t n, uint32_t k, Random& random, Fill fill) {
    const bool padding = n >= rows_ || (k >= cols_ && fill != Fill::any_byte);
    if (!quantized()) {
      if (!padding) set(n, k, random.uniform(-1.0f, 1.0f));
    } else if (dtype_ == DType::q8g32 || dtype_ == DType::q8c) {
      const int q = fill == Fill::random     ? static_cast<int>(random.below(256)) - 128
                    : fill == Fill::any_byte ? any_byte(random)
                    : fill == Fill::lowest   ? -128
                                             : 127;
      put(byte_offset(n, k), static_cast<int8_t>(padding ? 0 : q));
    } else {
      const uint32_t q = fill == Fill::random     ? random.below(16)
                         : fill == Fill::any_byte ? static_cast<uint32_t>(any_byte(random)) % 16
                         : fill == Fill::lowest   ? 0
                                                  : 15;
      const uint32_t nibble = !padding ? q : dtype_ == DType::q4g32 ? 8 : 0;
      if (wide() && dtype_ != DType::q4k) {
        const uint32_t high = fill == Fill::random ? random.below(4) : fill == Fill::lowest ? 0 : 3;
        set_high(n, k, !padding ? high : dtype_ == DType::q6k ? 2 : 0);
      }
      const uint32_t old = get<uint8_t>(byte_offset(n, k));
      put(byte_offset(n, k),
          static_cast<uint8_t>(k % 8 < 4 ? (old & 0xF0u) | nibble : (old & 0x0Fu) | nibble << 4));
    }
  }

  template <class T>
  T get(size_t offset) const {
    T value;
    memcpy(&value, buffer_.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void put(size_t offset, T value) {
    memcpy(buffer_.data() + offset, &value, sizeof value);
  }

  DType dtype_;
  uint32_t rows_, cols_;
  GuardedBuffer buffer_;
};

/// Rows of q8g32 or q8c activations, the last one against the guard page.
class QuantizedRows {
 public:
  QuantizedRows(DType dtype, uint32_t rows, uint32_t width, Random& random, Fill fill = Fill::random)
      : dtype_(dtype),
        width_(width),
        stride_(buffer_row_bytes(dtype, width)),
        buffer_(rows * stride_, Edge::end) {
    memset(buffer_.data(), 0, buffer_.bytes());
    const size_t columns = fill == Fill::any_byte ? padded() : width;
    for (uint32_t t = 0; t < rows; ++t) {
      for (uint32_t k = 0; k < columns; ++k) {
        q(t)[k] = static_cast<int8_t>(of_column(t, k, fill, random));
        *sum(t, k) += q(t)[k];
      }
      for (uint32_t k = 0; k < columns; k += 32) *scale(t, k) = random.uniform(0.0f, 0.02f);
    }
  }

  const void* data() const { return buffer_.data(); }
  size_t stride_bytes() const { return stride_; }
  int8_t* q(uint32_t t) const { return buffer_.data<int8_t>() + t * stride_; }
  /// Of column k.
  float* scale(uint32_t t, uint32_t k) const { return reinterpret_cast<float*>(q(t) + padded()) + group(k); }
  int32_t* sum(uint32_t t, uint32_t k) const {
    const size_t offset = dtype_ == DType::q8c ? padded() + 4 : padded() * 9 / 8;
    return reinterpret_cast<int32_t*>(q(t) + offset) + group(k);
  }
  double value(uint32_t t, uint32_t k) const { return static_cast<double>(*scale(t, k)) * q(t)[k]; }

 private:
  static int of_column(uint32_t t, uint32_t k, Fill fill, Random& random) {
    switch (fill) {
      case Fill::random:
        return static_cast<int>(random.below(255)) - 127;
      case Fill::lowest:
        return -127;
      case Fill::highest:
        return 127;
      case Fill::near_limit:
        return near_limit(k, random);
      case Fill::opposed:
        return k / 2 % 2 == t % 2 ? 127 : -127;
      case Fill::least:
        return -128;
      case Fill::any_byte:
        return any_byte(random);
    }
    return 0;
  }

  /// 31 to 33 or 63 to 65, of one sign for each 8 columns and of any for others, now and then 0.
  static int near_limit(uint32_t k, Random& random) {
    const int size = (k / 8 % 2 == 0 ? 31 : 63) + static_cast<int>(random.below(3));
    const bool negative = k / 16 % 2 == 0 ? k / 32 % 2 == 0 : random.below(2) == 0;
    return random.below(16) == 0 ? 0 : negative ? -size : size;
  }

  size_t padded() const { return align_up(width_, 64); }
  uint32_t group(uint32_t k) const { return dtype_ == DType::q8c ? 0 : k / 32; }

  DType dtype_;
  uint32_t width_;
  size_t stride_;
  GuardedBuffer buffer_;
};

}  // namespace mote::testing
