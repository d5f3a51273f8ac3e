// SPDX-License-Identifier: Apache-2.0
//
// Blocks of ggml as they are stored: integers and scales without a rounding. ggml_blocks.cpp describes the
// blocks.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

#include "converter/readers/ggml_blocks.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

constexpr uint16_t kSign = 0x8000;

int int_at(const std::byte* data, size_t i) { return std::to_integer<int>(data[i]); }

void add_half(const std::byte* data, std::vector<uint16_t>& to) { to.push_back(load<uint16_t>(data)); }

/// q[at + i] and q[at + count + i], i below `count`, of the low and the high nibbles of `count` bytes.
void read_nibbles(const std::byte* bytes, size_t count, int offset, int8_t* q) {
  for (size_t i = 0; i < count; ++i) {
    q[i] = static_cast<int8_t>((int_at(bytes, i) & 15) - offset);
    q[i + count] = static_cast<int8_t>((int_at(bytes, i) >> 4) - offset);
  }
}

// Blocks of 32.

void read_q8_0(const std::byte* b, int8_t* q, QuantRow& out) {
  add_half(b, out.scale);
  std::memcpy(q, b + 2, 32);
}

void read_q4_0(const std::byte* b, int8_t* q, QuantRow& out) {
  add_half(b, out.scale);
  read_nibbles(b + 2, 16, 8, q);
}

void read_q4_1(const std::byte* b, int8_t* q, QuantRow& out) {
  add_half(b, out.scale);
  add_half(b + 2, out.minimum);
  read_nibbles(b + 4, 16, 0, q);
}

// Blocks of 256.

/// Q4_K and Q5_K subtract dmin * m: here its sign is in the unit.
void read_scales_and_minima(const std::byte* b, QuantRow& out) {
  add_half(b, out.scale);
  out.minimum.push_back(static_cast<uint16_t>(load<uint16_t>(b + 2) ^ kSign));
  for (size_t j = 0; j < 8; ++j) {
    const ScaleMin steps = scale_min(b + 4, j);
    out.scale_steps.push_back(static_cast<int8_t>(steps.scale));
    out.minimum_steps.push_back(static_cast<int8_t>(steps.minimum));
  }
}

void read_q4_k(const std::byte* b, int8_t* q, QuantRow& out) {
  read_scales_and_minima(b, out);
  for (size_t j = 0; j < 4; ++j) read_nibbles(b + 16 + 32 * j, 32, 0, q + 64 * j);
}

void read_q5_k(const std::byte* b, int8_t* q, QuantRow& out) {
  read_scales_and_minima(b, out);
  for (size_t j = 0; j < 4; ++j) read_nibbles(b + 48 + 32 * j, 32, 0, q + 64 * j);
  for (size_t k = 0; k < 256; ++k)
    q[k] = static_cast<int8_t>(q[k] | (int_at(b, 16 + k % 32) >> (k / 32) & 1) << 4);
}

void read_q6_k(const std::byte* b, int8_t* q, QuantRow& out) {
  add_half(b + 208, out.scale);
  for (size_t i = 0; i < 16; ++i) out.scale_steps.push_back(load<int8_t>(b + 192 + i));
  for (size_t half = 0; half < 2; ++half) read_nibbles(b + 64 * half, 64, 0, q + 128 * half);
  for (size_t k = 0; k < 256; ++k) {
    const int high = int_at(b, 128 + k / 128 * 32 + k % 32) >> (k % 128 / 32 * 2) & 3;
    q[k] = static_cast<int8_t>((q[k] | high << 4) - 32);
  }
}

struct ExactBlock {
  SourceType type;
  void (*read)(const std::byte* block, int8_t* q, QuantRow& out);
};

constexpr ExactBlock kExactBlocks[] = {{SourceType::q8_0, read_q8_0}, {SourceType::q4_0, read_q4_0},
                                       {SourceType::q4_1, read_q4_1}, {SourceType::q4_k, read_q4_k},
                                       {SourceType::q5_k, read_q5_k}, {SourceType::q6_k, read_q6_k}};

}  // namespace

void read_exact_blocks(SourceType type, const std::byte* blocks, uint64_t columns, QuantRow& out) {
  const auto* const found = std::find_if(std::begin(kExactBlocks), std::end(kExactBlocks),
                                         [&](const ExactBlock& one) { return one.type == type; });
  assert(found != std::end(kExactBlocks));
  const BlockLayout& layout = block_layout(type);
  out = {};
  out.q.resize(columns);
  for (uint64_t k = 0; k < columns; k += layout.elements, blocks += layout.bytes)
    found->read(blocks, &out.q[k], out);
}

}  // namespace mote::convert
