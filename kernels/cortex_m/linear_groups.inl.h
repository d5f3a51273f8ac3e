// SPDX-License-Identifier: Apache-2.0
//
// Linear over groups of 32 columns by SMLAD. Four outputs at a time: their sums, the word of each row and the
// pairs of activations stay in the 13 registers. Equals the reference bitwise.
#pragma once

#include "kernels/cortex_m/linear_finish.inl.h"
#include "kernels/cortex_m/smlad.inl.h"

namespace mote::dsp {

inline constexpr uint32_t kBlock = 4;  // outputs at a time

// A group of four rows is one statement of assembly: compilers load all of it ahead, and then lack registers.
// Words of a row lie 64 bytes apart.
#define MOTE_DSP_BYTES_OF_ROW(dot)      \
  "ldr %[word], [%[w]], #4\n\t"         \
  "sxtb16 %[pair], %[word]\n\t"         \
  "smlad " dot ", %[pair], %[x0], " dot \
  "\n\t"                                \
  "sxtb16 %[pair], %[word], ror #8\n\t" \
  "smlad " dot ", %[pair], %[x1], " dot "\n\t"
#define MOTE_DSP_QUAD                                                                               \
  "ldrd %[x0], %[x1], [%[x]], #8\n\t" MOTE_DSP_BYTES_OF_ROW("%[d0]") MOTE_DSP_BYTES_OF_ROW("%[d1]") \
      MOTE_DSP_BYTES_OF_ROW("%[d2]") MOTE_DSP_BYTES_OF_ROW("%[d3]") "add %[w], %[w], #48\n\t"

/// Adds to dot the products of a group of 4 rows of 8 bits, whose first word is *w; w and x become the next
/// group's.
struct Bytes {
  [[gnu::always_inline]] static inline void dots(const uint32_t*& w, const uint32_t*& x,
                                                 int32_t (&dot)[kBlock]) {
    uint32_t word, pair, x0, x1;
    __asm__ volatile(
        MOTE_DSP_QUAD MOTE_DSP_QUAD MOTE_DSP_QUAD MOTE_DSP_QUAD MOTE_DSP_QUAD MOTE_DSP_QUAD MOTE_DSP_QUAD
            MOTE_DSP_QUAD
        : [d0] "+r"(dot[0]), [d1] "+r"(dot[1]), [d2] "+r"(dot[2]), [d3] "+r"(dot[3]), [w] "+r"(w),
          [x] "+r"(x), [word] "=&r"(word), [pair] "=&r"(pair), [x0] "=&r"(x0), [x1] "=&r"(x1)
        :
        : "memory");
  }
};

/// Sums of four outputs.
struct Sums {
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
  inline void add(const int32_t (&dot)[kBlock], float scale, const uint16_t* scales) {
    const HalfPair low = widen_halves(scales), high = widen_halves(scales + 2);
    s0 = __builtin_fmaf(scale * low.first, static_cast<float>(dot[0]), s0);
    s1 = __builtin_fmaf(scale * low.second, static_cast<float>(dot[1]), s1);
    s2 = __builtin_fmaf(scale * high.first, static_cast<float>(dot[2]), s2);
    s3 = __builtin_fmaf(scale * high.second, static_cast<float>(dot[3]), s3);
  }
};

/// Weights of 8 bits. The scratch has a row's pairs.
struct ByteGroups {
  using Supercell = SupercellQ8;
  static uint64_t scratch_bytes(uint64_t inputs) { return pairs_bytes(inputs); }
  static void widen(const ref::QuantizedRow& in, uint32_t columns, uint32_t* pairs) {
    widen_quads(in.q, columns, pairs);
  }

  /// Outputs [first, first + kBlock) of a panel from one row of activations. Words of the groups of a cell
  /// follow each other behind its scales.
  [[gnu::noinline]] static void block_of_row(const SupercellQ8* panel, uint32_t first,
                                             const ref::QuantizedRow& in, const uint32_t* pairs, size_t cells,
                                             float* out) {
    const uint16_t* scales = &panel->scale[0][first];
    const auto* words = reinterpret_cast<const uint32_t*>(panel->q) + first;
    const float* scale = in.scale;
    Sums sums;
    for (size_t group = 0; group < 2 * cells; ++group) {
      int32_t dot[kBlock] = {};
      Bytes::dots(words, pairs, dot);
      sums.add(dot, *scale++, scales);
      scales += kPanelRows;
      if (group % 2 == 0) continue;
      words += sizeof panel->scale / sizeof *words;
      scales += (sizeof *panel - sizeof panel->scale) / sizeof *scales;
    }
    out[0] = sums.s0;
    out[1] = sums.s1;
    out[2] = sums.s2;
    out[3] = sums.s3;
  }
};

template <class Weights>
static inline void linear_groups(const LinearArgs& args, Range panels, void* scratch) {
  auto* widened = static_cast<uint32_t*>(scratch);
  const auto columns = static_cast<uint32_t>(activation_padded(args.inputs));
  const size_t cells = columns / kSupercellColumns;
  for (uint32_t t = 0; t < args.rows; ++t) {
    const ref::QuantizedRow in = ref::quantized_row(args, t);
    Weights::widen(in, columns, widened);
    cortex_m::each_panel_of_cells<typename Weights::Supercell>(
        args, t, panels, cells,
        [&](const auto* weight, uint32_t count, float* out) {
          for (uint32_t first = 0; first < count; first += kBlock)
            Weights::block_of_row(weight, first, in, widened, cells, out + first);
        },
        [&](uint32_t output, uint32_t count, const float* dots) {
          cortex_m::finish_outputs(args, t, output, count, dots);
        });
  }
}

}  // namespace mote::dsp
