// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/quantizer.h"

#include <algorithm>
#include <cmath>

#include "schema/f16.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;

namespace {

std::vector<float> random_row(size_t columns, float magnitude, uint32_t seed) {
  uint64_t state = seed;
  std::vector<float> row(columns);
  for (float& value : row) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = magnitude * (static_cast<float>(state >> 40) / 0x1p23f - 1.0f);
  }
  return row;
}

std::vector<float> round_trip(const Quantizer& type, const std::vector<float>& row) {
  EncodedRow encoded;
  type.encode(row, encoded);
  std::vector<float> decoded(row.size());
  type.decode(encoded, decoded);
  return decoded;
}

/// Fails if a group's root mean square error exceeds the type's bound.
void check_bound(const Quantizer& type, const std::vector<float>& row) {
  const std::vector<float> decoded = round_trip(type, row);
  const bool wide = type.dtype == DType::q4k || type.dtype == DType::q5k || type.dtype == DType::q6k;
  const size_t group = type.dtype == DType::q8c ? row.size() : wide ? kWideColumns : kGroupColumns;
  for (size_t begin = 0; begin < row.size(); begin += group) {
    const size_t end = std::min(row.size(), begin + group);
    double error = 0;
    double largest = 0;
    for (size_t k = begin; k < end; ++k) {
      error += std::pow(static_cast<double>(decoded[k]) - static_cast<double>(row[k]), 2);
      largest = std::max(largest, std::fabs(static_cast<double>(row[k])));
    }
    // The search minimises the error of a whole group, so a short one is held to a whole one's.
    TEST_ASSERT_LESS_OR_EQUAL(static_cast<double>(type.bound) * largest,
                              std::sqrt(error / static_cast<double>(group)));
  }
}

double total_error(const Quantizer& type, const std::vector<float>& row) {
  const std::vector<float> decoded = round_trip(type, row);
  double error = 0;
  for (size_t k = 0; k < row.size(); ++k) error += std::pow(static_cast<double>(decoded[k] - row[k]), 2);
  return error;
}

}  // namespace

TEST("quantizers: every type round-trips within its listed bound at every magnitude and length") {
  uint32_t seed = 1;
  for (const Quantizer& type : quantizers()) {
    for (const float magnitude : {0.02f, 0.5f, 1.0f, 300.0f, 60000.0f}) {
      for (const size_t columns : {1u, 31u, 32u, 33u, 36u, 44u, 60u, 64u, 576u}) {
        for (int repeat = 0; repeat < 4; ++repeat) check_bound(type, random_row(columns, magnitude, seed++));
      }
    }
  }
}

TEST("quantizers: lopsided groups and outliers stay within the bound") {
  for (const Quantizer& type : quantizers()) {
    std::vector<float> row = random_row(64, 0.01f, 7);
    row[3] = 5.0f;
    row[40] = -5.0f;
    check_bound(type, row);
    for (float& value : row) value = std::fabs(value) + 1.0f;
    check_bound(type, row);
    for (float& value : row) value = -value;
    check_bound(type, row);
  }
}

TEST("quantizers: zeros and constants are exact") {
  for (const Quantizer& type : quantizers()) {
    const std::vector<float> zeros(64, 0.0f);
    TEST_ASSERT_TRUE(round_trip(type, zeros) == zeros);
    const std::vector<float> constants(64, -0.5f);
    TEST_ASSERT_FLOAT_WITHIN(2e-4f, -0.5f, round_trip(type, constants)[17]);
  }
}

TEST("quantizers: tiny magnitudes give no NaN and no larger values") {
  for (const Quantizer& type : quantizers()) {
    for (const float magnitude : {1e-3f, 1e-5f, 1e-7f, 1e-9f, 1e-30f, 1e-42f}) {
      for (const float value : round_trip(type, random_row(40, magnitude, 3))) {
        TEST_ASSERT_LESS_OR_EQUAL(1.1f * magnitude + 1e-7f, std::fabs(value));
      }
    }
  }
}

TEST("quantizers: values on a type's own grid come back as they are") {
  std::vector<float> row(32);
  for (int k = 0; k < 32; ++k) row[static_cast<size_t>(k)] = 0.25f * static_cast<float>(k % 16 - 8);
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q4g32), row) == row);
  for (float& value : row) value = -value;  // needs the negative scale
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q4g32), row) == row);
  for (int k = 0; k < 32; ++k) row[static_cast<size_t>(k)] = 0.5f + 0.125f * static_cast<float>(k % 12 + 2);
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q4mg32), row) == row);
  for (int k = 0; k < 32; ++k) row[static_cast<size_t>(k)] = 0.03125f * static_cast<float>(k * 8 - 127);
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q8g32), row) == row);
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q8c), row) == row);
  row[0] = 0.03125f * -128;
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::q8c), row) == row);
}

TEST("quantizers: the search beats the plain grid") {
  const std::vector<float> row = random_row(32 * 200, 1.0f, 11);
  double plain = 0;
  for (size_t begin = 0; begin < row.size(); begin += 32) {
    float largest = 0;
    for (size_t k = 0; k < 32; ++k) largest = std::max(largest, std::fabs(row[begin + k]));
    const float scale = largest / 7;
    for (size_t k = 0; k < 32; ++k) {
      plain +=
          std::pow(static_cast<double>(scale * std::nearbyint(row[begin + k] / scale) - row[begin + k]), 2);
    }
  }
  TEST_ASSERT_LESS_THAN(0.85 * plain, total_error(quantizer(DType::q4g32), row));
  TEST_ASSERT_LESS_THAN(total_error(quantizer(DType::q4g32), row),
                        total_error(quantizer(DType::q4mg32), row));
}

TEST("quantizers: q8c clips a row's outlier where that loses less, and keeps the whole range of f32") {
  std::vector<float> row = random_row(4096, 1.0f, 5);
  row[100] = 2.0f;
  double plain = 0;
  for (const float value : row) {
    const float step = 2.0f / 127;
    plain += std::pow(static_cast<double>(step * std::nearbyint(value / step) - value), 2);
  }
  TEST_ASSERT_LESS_THAN(plain, total_error(quantizer(DType::q8c), row));
  for (const float magnitude : {1e-36f, 3.4e38f}) {
    const std::vector<float> ends = {magnitude, -magnitude, 0.0f, magnitude / 2};
    const std::vector<float> decoded = round_trip(quantizer(DType::q8c), ends);
    for (size_t k = 0; k < ends.size(); ++k) TEST_ASSERT_FLOAT_WITHIN(magnitude / 200, ends[k], decoded[k]);
  }
}

TEST("quantizers: f16 keeps every half") {
  std::vector<float> row;
  for (uint32_t half = 0; half < 0x7C00; half += 7) row.push_back(f32_from_f16(static_cast<uint16_t>(half)));
  TEST_ASSERT_TRUE(round_trip(quantizer(DType::f16), row) == row);
}
