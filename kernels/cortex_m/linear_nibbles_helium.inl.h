// SPDX-License-Identifier: Apache-2.0
//
// Weights of 4 bits for linear_groups_helium.inl.h, eight outputs at a time, which share the loads of
// activations. The loop over supercells is assembly: q3 has the addresses of the words of 16 columns of the
// first row, of which those of seven rows and of the next group are immediate offsets; q4 and q5 the
// activations of low and of high nibbles; q6 and q7 the sums; r0, r2, r4 and r6 the dot products of four
// rows. VCVTB is of q0 alone, as GNU as up to 2.40 encodes it.
#pragma once

#include "kernels/cortex_m/linear_groups_helium.inl.h"

namespace mote::helium {

#define MOTE_HELIUM_ROW(dot, offset) \
  "vldrw.u32 q0, [q3, #" offset      \
  "]\n\t"                            \
  "vand q1, q0, q2\n\t"              \
  "vshr.u8 q0, q0, #4\n\t"           \
  "vmladav.s8 " dot                  \
  ", q1, q4\n\t"                     \
  "vmladava.s8 " dot ", q0, q5\n\t"
#define MOTE_HELIUM_FOUR_ROWS(words, halves, sums) \
  MOTE_HELIUM_ROW("r0", words) MOTE_HELIUM_ROW("r2", words "+4") MOTE_HELIUM_ROW("r4", words "+8")        \
      MOTE_HELIUM_ROW("r6", words "+12") "vmov q1[2], q1[0], r0, r4\n\t"                                  \
                                         "vmov q1[3], q1[1], r2, r6\n\t"                                  \
                                         "vsub.i32 q1, q1, r8\n\t"                                        \
                                         "vcvt.f32.s32 q1, q1\n\t"                                        \
                                         "vldrh.u32 q0, [r3, #" halves "]\n\t"                            \
                                         "vcvtb.f32.f16 q0, q0\n\t"                                       \
                                         "vmul.f32 q0, q0, r9\n\t"                                        \
                                         "vfma.f32 " sums ", q0, q1\n\t"
// The products of a group: its scale is r9, 8 times its sum r8.
#define MOTE_HELIUM_GROUP(words, halves)                           \
  "vld20.32 {q4, q5}, [r1]\n\t"                                    \
  "vld21.32 {q4, q5}, [r1]!\n\t"                                   \
  "ldr r8, [r12], #4\n\t"                                          \
  "ldr r9, [r5], #4\n\t"                                           \
  "lsls r8, r8, #3\n\t" MOTE_HELIUM_FOUR_ROWS(words, halves, "q6") \
      MOTE_HELIUM_FOUR_ROWS(words "+16", halves "+8", "q7")

/// panel_of_row<Nibbles, true>, which may write up to four outputs more: out has a whole panel's.
[[gnu::noinline]] static void nibbles_of_row(const SupercellQ4* panel, uint32_t blocks,
                                             const ref::QuantizedRow& in, size_t cells, float* out) {
  static_assert(sizeof(SupercellQ4) == 576 && sizeof(SupercellQ4::scale) == 64, "offsets below");
  for (uint32_t first = 0; first < blocks * kBlock; first += 2 * kBlock) {
    const struct {
      const int8_t* q;
      const uint16_t* halves;
      const float* scale;
      const int32_t* sum;
      size_t cells;
    } from = {in.q, &panel->scale[0][first], in.scale, in.sum, cells};
    register uint8x16_t mask __asm__("q2") = vdupq_n_u8(15);
    register uint32x4_t words __asm__("q3") = words_at(panel->nibbles[0][0][first]);
    register float32x4_t low __asm__("q6") = vdupq_n_f32(0.0f);
    register float32x4_t high __asm__("q7") = vdupq_n_f32(0.0f);
    __asm__ volatile(
        "ldm %[from], {r1, r3, r5, r12, lr}\n\t"
        "mov r10, #576\n\t"
        "dls lr, lr\n"
        "1:\n\t"  //
        MOTE_HELIUM_GROUP("0", "0") MOTE_HELIUM_GROUP("256", "32")
        "vadd.i32 q3, q3, r10\n\t"
        "add r3, r3, r10\n\t"
        "le lr, 1b"
        : "+w"(low), "+w"(high), "+w"(words)
        : [from] "r"(&from), "w"(mask)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1", "q4", "q5", "cc",
          "memory");
    vst1q_f32(out + first, low);
    vst1q_f32(out + first + kBlock, high);
  }
}

}  // namespace mote::helium
