// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/packed_rows.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "schema/block_formats.h"
#include "schema/f16.h"

namespace mote::convert {
namespace {

bool is_f16(float scale) { return f32_from_f16(f16_from_f32(scale)) == scale; }

/// Sign, 4 bits of exponent, 3 of mantissa; no infinities, all ones are NaN.
float fp8_value(uint32_t code) {
  const uint32_t exponent = code >> 3 & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7) return NAN;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -9)
                              : std::ldexp(static_cast<float>(8 + mantissa), static_cast<int>(exponent) - 10);
  return (code & 128) != 0 ? -magnitude : magnitude;
}

std::array<float, 256> fp8_values() {
  std::array<float, 256> values;
  for (uint32_t code = 0; code < values.size(); ++code) values[code] = fp8_value(code);
  return values;
}

}  // namespace

SourceType IntegerRows::settle_type() {
  const auto [low, high] = std::minmax_element(zeros.begin(), zeros.end());
  const int first = least - *high, last = most - *low;
  const bool one_scale = groups() == 1;
  const bool in_groups = column_groups.empty() && (one_scale || group % kGroupColumns == 0) &&
                         std::all_of(scales.begin(), scales.end(), is_f16);
  const bool in_bytes = first >= -128 && last <= 127;
  if (in_groups && first >= -8 && last <= 7) {
    type_ = SourceType::int4;
  } else if (one_scale && column_groups.empty() && in_bytes && (prefers_row_scale || !in_groups)) {
    type_ = SourceType::int8_rows;
  } else if (in_groups && in_bytes) {
    type_ = SourceType::int8;
  }
  return type_;
}

void IntegerRows::read(uint64_t row, std::span<float> out) const {
  for (uint64_t k = 0; k < columns; ++k) {
    const uint64_t at = row * groups() + group_at(k);
    out[k] = scales[at] * static_cast<float>(integer(row, k) - zeros[at]);
  }
}

void IntegerRows::read_exact(uint64_t row, QuantRow& out) const {
  assert(has_exact());
  out = {};
  const uint64_t small_groups = (columns + kGroupColumns - 1) / kGroupColumns;
  out.q.resize(type_ == SourceType::int8_rows ? columns : small_groups * kGroupColumns);
  for (uint64_t k = 0; k < columns; ++k)
    out.q[k] = static_cast<int8_t>(integer(row, k) - zeros[row * groups() + group_at(k)]);
  if (type_ == SourceType::int8_rows) {
    out.row_scale = scales[row];
    return;
  }
  for (uint64_t g = 0; g < small_groups; ++g)
    out.scale.push_back(f16_from_f32(scales[row * groups() + group_at(g * kGroupColumns)]));
}

void Fp8Rows::read(uint64_t row, std::span<float> out) const {
  static const std::array<float, 256> kValues = fp8_values();
  const uint64_t blocks = (columns + block_columns - 1) / block_columns;
  const float* scale = &scales[row / block_rows * blocks];
  for (uint64_t k = 0; k < columns; ++k) {
    const auto code = std::to_integer<uint8_t>(data[row * columns + k]);
    out[k] = kValues[code] * scale[k / block_columns];
  }
}

TernaryRows::TernaryRows(const SourceTensor& plain_) : plain(plain_) {
  constexpr double kLeast = 1e-5;
  std::vector<float> values(plain.cols());
  double sum = 0;
  for (uint64_t row = 0; row < plain.rows(); ++row) {
    read_row(plain, row, values);
    for (const float value : values) sum += std::fabs(value);
  }
  scale = static_cast<float>(std::max(sum / static_cast<double>(plain.rows() * plain.cols()), kLeast));
}

void TernaryRows::read(uint64_t row, std::span<float> out) const {
  read_row(plain, row, out);
  for (float& value : out) value = std::clamp(std::nearbyint(value * (1.0f / scale)), -1.0f, 1.0f) * scale;
}

}  // namespace mote::convert
