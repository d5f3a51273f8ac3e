// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], bitwise equal to the reference. A row of a row-major table is one stream. In panels
// a row has 4 bytes in every 64, so each word lies in another cache line: the lookup is bound by cache
// misses, and words are loaded one by one. Tails: a group is decoded whole and stored up to the width.
#pragma once

#include <string.h>

#include "kernels/simd/ints.h"

namespace mote {
namespace {

/// Copies the words of a row, which lie 64 bytes apart in a panel, side by side. Two words are stored at a
/// time, because vectors load them so.
static inline void gather_words(const void* first, uint32_t count, uint64_t* to) {
  const char* from = static_cast<const char*>(first);
  for (uint32_t i = 0; i < count; i += 2, from += 128) {
    uint32_t low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + 64, sizeof high);
    to[i / 2] = low | static_cast<uint64_t>(high) << 32;
  }
}

/// The 32 int8 of a row and group.
struct GroupBytes {
  uint64_t words[kGroupColumns / 8];
  const int8_t* at(uint32_t column) const { return reinterpret_cast<const int8_t*>(words) + column; }
};

/// Nibbles, from 0 to 15: each word holds 8 columns, the low ones first.
static inline GroupBytes gather_nibbles(const uint8_t (&nibbles)[4][16][4], uint32_t row) {
  GroupBytes to;
  for (uint32_t j = 0; j < 4; ++j) {
    uint32_t word;
    memcpy(&word, nibbles[j][row], sizeof word);
    to.words[j] = (word & 0x0F0F0F0Fu) | static_cast<uint64_t>(word >> 4 & 0x0F0F0F0Fu) << 32;
  }
  return to;
}

// ---- Formats with groups: the bytes of a row and group, and the values of its columns ----

template <class V>
struct EmbedQ8 {
  using Supercell = SupercellQ8;
  static GroupBytes bytes(const Supercell& cell, uint32_t g, uint32_t row) {
    GroupBytes to;
    gather_words(cell.q[g][0][row], kGroupColumns / 4, to.words);
    return to;
  }
  static auto value(const Supercell& cell, uint32_t g, uint32_t row, typename V::Float q) {
    return V::mul(V::set(V::half(cell.scale[g][row])), q);
  }
};

template <class Cell>
struct EmbedNibbles {
  using Supercell = Cell;
  static GroupBytes bytes(const Supercell& cell, uint32_t g, uint32_t row) {
    return gather_nibbles(cell.nibbles[g], row);
  }
};

template <class V>
struct EmbedQ4 : EmbedNibbles<SupercellQ4> {
  static auto value(const Supercell& cell, uint32_t g, uint32_t row, typename V::Float q) {
    return V::mul(V::set(V::half(cell.scale[g][row])), V::sub(q, V::set(8.0f)));
  }
};

/// The product is exact, so there is one rounding.
template <class V>
struct EmbedQ4m : EmbedNibbles<SupercellQ4m> {
  static auto value(const Supercell& cell, uint32_t g, uint32_t row, typename V::Float q) {
    return V::add(V::mul(V::set(V::half(cell.scale[g][row])), q), V::set(V::half(cell.minimum[g][row])));
  }
};

/// value(q) of the bytes of a group, for columns k and on of a row of `width`.
template <class V, class Value>
inline void store_group(const GroupBytes& bytes, uint32_t k, uint32_t width, float* out, const Value& value) {
  for (uint32_t v = 0; v < kGroupVectors<V> && k + v * V::kLanes < width; ++v) {
    const uint32_t column = k + v * V::kLanes;
    V::store_first(out + column, width - column, value(V::load_bytes(bytes.at(v * V::kLanes))));
  }
}

template <class V, class Format>
void embed_groups(const EmbedArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  using Supercell = typename Format::Supercell;
  const auto supercells = static_cast<size_t>(align_up(args.width, kSupercellColumns) / kSupercellColumns);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]), row = id % kPanelRows;
    const Supercell* panel = static_cast<const Supercell*>(args.table) + id / kPanelRows * supercells;
    for (uint32_t k = 0; k < args.width; k += kGroupColumns) {
      const Supercell& cell = panel[k / kSupercellColumns];
      const uint32_t g = k / kGroupColumns % 2;
      store_group<V>(Format::bytes(cell, g, row), k, args.width, args.out[t],
                     [&](typename V::Float q) { return Format::value(cell, g, row, q); });
    }
  }
}

// ---- q8c ----

template <class V>
inline void embed_row(const char* row, uint32_t width, float* out) {
  const auto* q = reinterpret_cast<const int8_t*>(row + sizeof(float));
  const float scale = *reinterpret_cast<const float*>(row);
  uint32_t k = 0;
  for (; k + V::kLanes <= width; k += V::kLanes)
    V::store(out + k, V::mul(V::set(scale), V::load_bytes(q + k)));
  for (; k < width; ++k) out[k] = scale * static_cast<float>(q[k]);
}

/// K is padded to 64 in panels.
template <class V>
inline void embed_from_panel(const char* panel, uint32_t row, uint32_t width, float* out) {
  const auto* head = reinterpret_cast<const HeadQ8c*>(panel);
  const auto* quads = reinterpret_cast<const QuadQ8c*>(head + 1);
  const typename V::Float scale = V::set(head->scale[row]);
  for (uint32_t k = 0; k < width; k += kGroupColumns) {
    GroupBytes bytes;
    gather_words(quads[k / 4].q[row], kGroupColumns / 4, bytes.words);
    store_group<V>(bytes, k, width, out, [&](typename V::Float q) { return V::mul(scale, q); });
  }
}

template <class V>
void embed_q8c(const EmbedArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  const char* table = static_cast<const char*>(args.table);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    if (args.row_major) {
      embed_row<V>(table + id * row_bytes(DType::q8c, args.width), args.width, args.out[t]);
    } else {
      const char* panel = table + id / kPanelRows * panel_bytes(DType::q8c, args.width);
      embed_from_panel<V>(panel, id % kPanelRows, args.width, args.out[t]);
    }
  }
}

// ---- f16 ----

template <class V>
void embed_f16(const EmbedArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  const uint32_t width = args.width;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const size_t id = static_cast<uint32_t>(args.ids[t]);
    float* out = args.out[t];
    if (args.row_major) {
      const uint16_t* row = static_cast<const uint16_t*>(args.table) + id * width;
      each_vector<V::kLanes>(width, [&](uint32_t k, uint32_t left) MOTE_INLINE {
        V::store_first(out + k, left, V::load_first(row + k, left));
      });
    } else {
      const char* panel =
          static_cast<const char*>(args.table) + id / kPanelRows * panel_bytes(DType::f16, width);
      const uint16_t* column = reinterpret_cast<const uint16_t*>(panel) + id % kPanelRows;
      for (uint32_t k = 0; k < width; ++k) out[k] = V::half(column[k * kPanelRows]);
    }
  }
}

}  // namespace
}  // namespace mote
