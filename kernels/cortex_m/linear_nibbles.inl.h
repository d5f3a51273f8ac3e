// SPDX-License-Identifier: Apache-2.0
//
// Weights of 4 bits, stored with an offset of 8, for linear_groups.inl.h. In scratch each group of a row's
// activations is what its dot products begin with, -8 times its sum, its scale, and 16 pairs. The loop over
// supercells is assembly, because compilers spill what it needs: r8 to r11 are the dot products of four
// outputs, r3 to r6 the pairs of 8 columns, s12 to s15 the sums, s0 to s3 the halves that are the scales of
// both groups.
#pragma once

#include "kernels/cortex_m/linear_groups.inl.h"

namespace mote::dsp {

// Words of a row lie 64 bytes apart, those of four rows side by side.
#define MOTE_DSP_ROW(dot, offset)    \
  "ldr r12, [%[w], #" offset         \
  "]\n\t"                            \
  "and lr, %[low], r12\n\t"          \
  "smlad " dot ", lr, r3, " dot      \
  "\n\t"                             \
  "and lr, %[low], r12, lsr #4\n\t"  \
  "smlad " dot ", lr, r4, " dot      \
  "\n\t"                             \
  "and lr, %[low], r12, lsr #8\n\t"  \
  "smlad " dot ", lr, r5, " dot      \
  "\n\t"                             \
  "and lr, %[low], r12, lsr #12\n\t" \
  "smlad " dot ", lr, r6, " dot "\n\t"
#define MOTE_DSP_OCTET(offset)                                                                   \
  "ldmia %[x]!, {r3, r4, r5, r6}\n\t" MOTE_DSP_ROW("r8", offset) MOTE_DSP_ROW("r9", offset "+4") \
      MOTE_DSP_ROW("r10", offset "+8") MOTE_DSP_ROW("r11", offset "+12")
// `low` and `high`: two halves each, the scales of the four rows.
#define MOTE_DSP_GROUP(offset, low, high) \
  "ldr r8, [%[x]], #4\n\t"                                                                            \
  "vldmia %[x]!, {s11}\n\t"                                                                           \
  "mov r9, r8\n\t"                                                                                    \
  "mov r10, r8\n\t"                                                                                   \
  "mov r11, r8\n\t" MOTE_DSP_OCTET(offset) MOTE_DSP_OCTET(offset "+64") MOTE_DSP_OCTET(offset "+128") \
      MOTE_DSP_OCTET(offset "+192")                                                                   \
  "vmov s4, s5, r8, r9\n\t"                                                                           \
  "vmov s6, s7, r10, r11\n\t"                                                                         \
  "vcvtb.f32.f16 s8, " low "\n\t"                                                                     \
  "vcvtt.f32.f16 s9, " low "\n\t"                                                                     \
  "vcvtb.f32.f16 s10, " high "\n\t"                                                                   \
  "vcvtt.f32.f16 " high ", " high "\n\t"                                                              \
  "vmul.f32 s8, s11, s8\n\t"                                                                          \
  "vmul.f32 s9, s11, s9\n\t"                                                                          \
  "vmul.f32 s10, s11, s10\n\t"                                                                        \
  "vmul.f32 s11, s11, " high "\n\t"                                                                   \
  "vcvt.f32.s32 s4, s4\n\t"                                                                           \
  "vcvt.f32.s32 s5, s5\n\t"                                                                           \
  "vcvt.f32.s32 s6, s6\n\t"                                                                           \
  "vcvt.f32.s32 s7, s7\n\t"                                                                           \
  "vfma.f32 s12, s8, s4\n\t"                                                                          \
  "vfma.f32 s13, s9, s5\n\t"                                                                          \
  "vfma.f32 s14, s10, s6\n\t"                                                                         \
  "vfma.f32 s15, s11, s7\n\t"

struct NibbleGroups {
  using Supercell = SupercellQ4;
  static constexpr uint32_t kWords = 18;  // of a group of activations
  static uint64_t scratch_bytes(uint64_t inputs) {
    return align_up(activation_padded(inputs) / kGroupColumns * kWords * 4, kAlignment);
  }

  static void widen(const ref::QuantizedRow& in, uint32_t columns, uint32_t* groups) {
    for (uint32_t group = 0; group < columns / kGroupColumns; ++group, groups += kWords) {
      const int32_t start = -8 * in.sum[group];
      memcpy(groups, &start, sizeof start);
      memcpy(groups + 1, &in.scale[group], sizeof(float));
      widen_octets(in.q + group * kGroupColumns, kGroupColumns, groups + 2);
    }
  }

  /// Outputs [first, first + kBlock) of a panel of at least one supercell from one row of activations.
  [[gnu::noinline]] static void block_of_row(const SupercellQ4* panel, uint32_t first,
                                             const ref::QuantizedRow&, const uint32_t* groups, size_t cells,
                                             float* out) {
    static_assert(sizeof(SupercellQ4) == 576 && sizeof(SupercellQ4::scale) == 64, "offsets below");
    const uint16_t* scales = &panel->scale[0][first];
    const void* words = panel->nibbles[0][0][first];
    __asm__ volatile(
        "vmov s12, %[zero]\n\t"
        "vmov s13, %[zero]\n\t"
        "vmov s14, %[zero]\n\t"
        "vmov s15, %[zero]\n"
        "1:\n\t"
        "ldr r12, %[scales]\n\t"
        "vldr s0, [r12]\n\t"
        "vldr s1, [r12, #4]\n\t"
        "vldr s2, [r12, #32]\n\t"
        "vldr s3, [r12, #36]\n\t"
        "add r12, r12, #576\n\t"
        "str r12, %[scales]\n\t"  //
        MOTE_DSP_GROUP("0", "s0", "s1") MOTE_DSP_GROUP("256", "s2", "s3")
        "ldr r12, %[cells]\n\t"
        "add %[w], %[w], #576\n\t"
        "subs r12, r12, #1\n\t"
        "str r12, %[cells]\n\t"
        "bne.w 1b\n\t"
        "ldr r12, %[out]\n\t"
        "vstmia r12, {s12, s13, s14, s15}"
        : [w] "+r"(words), [x] "+r"(groups), [scales] "+m"(scales), [cells] "+m"(cells)
        : [zero] "r"(0), [low] "r"(0x000F000F), [out] "m"(out)
        : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3", "s4", "s5",
          "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc", "memory");
  }
};

}  // namespace mote::dsp
