// SPDX-License-Identifier: Apache-2.0
//
// A block of 32 (Q4_0 to Q8_0, IQ4_NL, MXFP4) has one scale and perhaps one minimum; its low nibbles are
// elements 0 to 15, its high nibbles 16 to 31. A block of 256 (Q2_K to Q6_K) has a scale, perhaps one for
// minima, and integer scales of 16 or 32 elements each. Every product below is exact in f32 (at most 25 bits
// in Q6_K, where only the last one rounds), so the order of multiplications does not matter and value = scale
// * q - minimum rounds once.
#include "converter/readers/ggml_blocks.h"

#include <cassert>

#include "host/base/bytes.h"
#include "schema/f16.h"

namespace mote::convert {
namespace {

uint8_t byte_at(const std::byte* data, size_t i) { return std::to_integer<uint8_t>(data[i]); }
float half_at(const std::byte* data) { return f32_from_f16(load<uint16_t>(data)); }
int low(uint8_t byte) { return byte & 15; }
int high(uint8_t byte) { return byte >> 4; }

void block_f32(const std::byte* b, float* y) { *y = load<float>(b); }
void block_f16(const std::byte* b, float* y) { *y = half_at(b); }
void block_bf16(const std::byte* b, float* y) { *y = f32_from_bits(uint32_t{load<uint16_t>(b)} << 16); }

// {f16 d; int8 q[32]}
void block_q8_0(const std::byte* b, float* y) {
  const float d = half_at(b);
  for (size_t i = 0; i < 32; ++i) y[i] = d * static_cast<float>(load<int8_t>(b + 2 + i));
}

// {f16 d; uint8 q[16]}
void block_q4_0(const std::byte* b, float* y) {
  const float d = half_at(b);
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t q = byte_at(b, 2 + i);
    y[i] = d * static_cast<float>(low(q) - 8);
    y[i + 16] = d * static_cast<float>(high(q) - 8);
  }
}

// {f16 d, m; uint8 q[16]}
void block_q4_1(const std::byte* b, float* y) {
  const float d = half_at(b), m = half_at(b + 2);
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t q = byte_at(b, 4 + i);
    y[i] = d * static_cast<float>(low(q)) + m;
    y[i + 16] = d * static_cast<float>(high(q)) + m;
  }
}

// {f16 d; uint32 fifth bits; uint8 q[16]}
void block_q5_0(const std::byte* b, float* y) {
  const float d = half_at(b);
  const auto fifth = load<uint32_t>(b + 2);
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t q = byte_at(b, 6 + i);
    y[i] = d * static_cast<float>((low(q) | static_cast<int>((fifth >> i & 1) << 4)) - 16);
    y[i + 16] = d * static_cast<float>((high(q) | static_cast<int>((fifth >> (i + 16) & 1) << 4)) - 16);
  }
}

// {f16 d, m; uint32 fifth bits; uint8 q[16]}
void block_q5_1(const std::byte* b, float* y) {
  const float d = half_at(b), m = half_at(b + 2);
  const auto fifth = load<uint32_t>(b + 4);
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t q = byte_at(b, 8 + i);
    y[i] = d * static_cast<float>(low(q) | static_cast<int>((fifth >> i & 1) << 4)) + m;
    y[i + 16] = d * static_cast<float>(high(q) | static_cast<int>((fifth >> (i + 16) & 1) << 4)) + m;
  }
}

// {uint8 scales[16] (low nibble scale, high minimum); uint8 q[64]; f16 d, dmin}, 16 elements a scale. Each
// half of 128 elements lies in 32 bytes, elements 32 * s to 32 * s + 31 in their bits 2s and 2s + 1.
void block_q2_k(const std::byte* b, float* y) {
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (size_t i = 0; i < 256; ++i) {
    const uint8_t scale = byte_at(b, i / 16);
    const int q = byte_at(b, 16 + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    y[i] =
        d * static_cast<float>(low(scale)) * static_cast<float>(q) - dmin * static_cast<float>(high(scale));
  }
}

// {uint8 high bits[32]; uint8 q[64]; uint8 scales[12]; f16 d}, 16 elements a scale of 6 bits. The low bits
// lie as in Q2_K; element i's high bit is bit i / 32 of byte i % 32, and means -4 where it is 0.
void block_q3_k(const std::byte* b, float* y) {
  const float d = half_at(b + 108);
  int scales[16];
  for (size_t j = 0; j < 16; ++j) {
    const uint8_t packed = byte_at(b, 96 + j % 8);
    const int top = byte_at(b, 104 + j % 4) >> (j / 4 * 2) & 3;
    scales[j] = ((j < 8 ? low(packed) : high(packed)) | top << 4) - 32;
  }
  for (size_t i = 0; i < 256; ++i) {
    const int low_bits = byte_at(b, 32 + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    const int high_bit = byte_at(b, i % 32) >> (i / 32) & 1;
    y[i] = d * static_cast<float>(scales[i / 16]) * static_cast<float>(low_bits - (high_bit != 0 ? 0 : 4));
  }
}

// Q4_K and Q5_K: {f16 d, dmin; uint8 scales[12]}, 32 elements a scale, then q[128] from byte `nibbles` on.
// Each 64 elements lie in 32 bytes of q, the first 32 in the low nibbles. high_bits(i, j): what byte i of the
// group j adds.
template <class HighBits>
void block_of_scales(const std::byte* b, size_t nibbles, float* y, HighBits high_bits) {
  const float d = half_at(b), dmin = half_at(b + 2);
  for (size_t j = 0; j < 8; ++j) {
    const ScaleMin steps = scale_min(b + 4, j);
    const float scale = d * static_cast<float>(steps.scale),
                minimum = dmin * static_cast<float>(steps.minimum);
    for (size_t i = 0; i < 32; ++i) {
      const uint8_t byte = byte_at(b, nibbles + j / 2 * 32 + i);
      const int q = (j % 2 == 0 ? low(byte) : high(byte)) | high_bits(i, j);
      y[32 * j + i] = scale * static_cast<float>(q) - minimum;
    }
  }
}

void block_q4_k(const std::byte* b, float* y) {
  block_of_scales(b, 16, y, [](size_t, size_t) { return 0; });
}

// Between scales and q lie uint8 fifth bits[32]: bit j of byte i.
void block_q5_k(const std::byte* b, float* y) {
  block_of_scales(b, 48, y, [b](size_t i, size_t j) { return (byte_at(b, 16 + i) >> j & 1) << 4; });
}

// {uint8 low[128]; uint8 high[64]; int8 scales[16]; f16 d}, 16 elements a scale. 64 bytes of each half of 128
// elements hold the low 4 bits (elements 0 to 63 in the low nibbles), 32 bytes the high 2 (laid out as
// Q2_K's).
void block_q6_k(const std::byte* b, float* y) {
  const float d = half_at(b + 208);
  for (size_t i = 0; i < 256; ++i) {
    const size_t half = i / 128, in_half = i % 128;
    const uint8_t byte = byte_at(b, half * 64 + in_half % 64);
    const int low_bits = in_half < 64 ? low(byte) : high(byte);
    const int high_bits = byte_at(b, 128 + half * 32 + i % 32) >> (in_half / 32 * 2) & 3;
    const float scale = d * static_cast<float>(load<int8_t>(b + 192 + i / 16));
    y[i] = scale * static_cast<float>((low_bits | high_bits << 4) - 32);
  }
}

// A nibble stands for one of 16 numbers; they lie as in Q4_0.
template <class Of>
void block_of_codes(const std::byte* nibbles, float d, const Of (&numbers)[16], float* y) {
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t q = byte_at(nibbles, i);
    y[i] = d * static_cast<float>(numbers[low(q)]);
    y[i + 16] = d * static_cast<float>(numbers[high(q)]);
  }
}

// {f16 d; uint8 q[16]}
void block_iq4_nl(const std::byte* b, float* y) {
  constexpr int8_t kNumbers[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  block_of_codes(b + 2, half_at(b), kNumbers, y);
}

// {uint8 exponent; uint8 q[16]}: OCP's E2M1 numbers, here doubled, times 2^(exponent - 128).
void block_mxfp4(const std::byte* b, float* y) {
  constexpr int8_t kNumbers[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const uint32_t exponent = byte_at(b, 0);
  const float d = f32_from_bits(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
  block_of_codes(b + 1, d, kNumbers, y);
}

struct Format {
  BlockLayout layout;
  void (*dequantize)(const std::byte* block, float* values);
};

// In the order of SourceType.
constexpr Format kFormats[] = {
    {{"F32", 1, 4}, block_f32},        {{"F16", 1, 2}, block_f16},
    {{"BF16", 1, 2}, block_bf16},      {{"Q8_0", 32, 34}, block_q8_0},
    {{"Q4_0", 32, 18}, block_q4_0},    {{"Q4_1", 32, 20}, block_q4_1},
    {{"Q5_0", 32, 22}, block_q5_0},    {{"Q5_1", 32, 24}, block_q5_1},
    {{"Q2_K", 256, 84}, block_q2_k},   {{"Q3_K", 256, 110}, block_q3_k},
    {{"Q4_K", 256, 144}, block_q4_k},  {{"Q5_K", 256, 176}, block_q5_k},
    {{"Q6_K", 256, 210}, block_q6_k},  {{"IQ4_NL", 32, 18}, block_iq4_nl},
    {{"MXFP4", 32, 17}, block_mxfp4},  {{"ternary", 1, 1}, nullptr},  // from here on rows are no blocks
    {{"int4", 1, 1}, nullptr},         {{"int8", 1, 1}, nullptr},
    {{"int8 by rows", 1, 1}, nullptr}, {{"packed", 1, 1}, nullptr},
    {{"FP8", 1, 1}, nullptr}};
static_assert(std::size(kFormats) == static_cast<size_t>(SourceType::fp8) + 1);

const Format& format_of(SourceType type) { return kFormats[static_cast<size_t>(type)]; }

}  // namespace

ScaleMin scale_min(const std::byte* packed, size_t j) {
  if (j < 4) return {byte_at(packed, j) & 63, byte_at(packed, j + 4) & 63};
  const uint8_t nibbles = byte_at(packed, j + 4);
  return {low(nibbles) | byte_at(packed, j - 4) >> 6 << 4, high(nibbles) | byte_at(packed, j) >> 6 << 4};
}

const BlockLayout& block_layout(SourceType type) { return format_of(type).layout; }

void dequantize(SourceType type, const std::byte* blocks, std::span<float> out) {
  const Format& format = format_of(type);
  assert(out.size() % format.layout.elements == 0);
  for (size_t i = 0; i < out.size(); i += format.layout.elements, blocks += format.layout.bytes) {
    format.dequantize(blocks, out.data() + i);
  }
}

}  // namespace mote::convert
