// SPDX-License-Identifier: Apache-2.0
//
// Dot products of bytes without an instruction for them, for linear_tiles.inl.h: smull and smlal, which
// multiply 8 bytes to int16.
//
// A vector of weights is words of 4 columns of 4 outputs; its half times a word of activations, which stands
// in every lane of a vector, is 4 products of each of 2 outputs. So a panel takes 8 sums a row, which are as
// many chains.
//
// Nibbles stay in int16 for a whole group: 8 products of 0 to 15 by -128 to 127 are at most 15360, and two
// such sums 30720. Two products of int8 fit, unless both are of -128 by -128: where activations have a -128,
// each product is added to int32 by itself.
//
// The loops are in assembly, for cores that run instructions in order (Cortex-A53): a result is 4 to 6
// instructions away from where it is taken, and vectors of weights and words of activations are loaded four
// at a time.
#pragma once

#include "kernels/arm/linear_tiles.inl.h"

// The products of two vectors of weights, whose halves are 4 outputs of a panel, with word; `s` and the
// numbers name the operands.
#define MOTE_TWO(op, s, i, w, word) \
  #op " %[" #s #i "].8h, " w ".8b, " word ".8b\n" #op "2 %[" #s "h" #i "].8h, " w ".16b, " word ".16b\n"
/// The products of a panel: w0 to w3 by a word.
#define MOTE_QUAD(op, s, w0, w1, w2, w3, word) \
  MOTE_TWO(op, s, 0, w0, word)                 \
  MOTE_TWO(op, s, 1, w1, word) MOTE_TWO(op, s, 2, w2, word) MOTE_TWO(op, s, 3, w3, word)
/// v20 to v23 are the low nibbles of v16 to v19, which become the high ones.
#define MOTE_NIBBLES(raw0, raw1, raw2, raw3, low0, low1, low2, low3)        \
  "and " low0 ".16b, " raw0 ".16b, %[fifteen].16b\nand " low1 ".16b, " raw1 \
  ".16b, %[fifteen].16b\n"                                                  \
  "and " low2 ".16b, " raw2 ".16b, %[fifteen].16b\nand " low3 ".16b, " raw3 \
  ".16b, %[fifteen].16b\n"                                                  \
  "ushr " raw0 ".16b, " raw0 ".16b, 4\nushr " raw1 ".16b, " raw1            \
  ".16b, 4\n"                                                               \
  "ushr " raw2 ".16b, " raw2 ".16b, 4\nushr " raw3 ".16b, " raw3 ".16b, 4\n"

// A row of a panel: its sums s0 to s7 by the weights w0 to w3 and a word; and with v0 to v7.
#define MOTE_ROW(op, s0, s1, s2, s3, s4, s5, s6, s7, w0, w1, w2, w3, word)                                  \
  #op " " s0 ".8h, " w0 ".8b, " word ".8b\n" #op "2 " s1 ".8h, " w0 ".16b, " word ".16b\n" #op " " s2       \
      ".8h, " w1 ".8b, " word ".8b\n" #op "2 " s3 ".8h, " w1 ".16b, " word ".16b\n" #op " " s4 ".8h, " w2   \
      ".8b, " word ".8b\n" #op "2 " s5 ".8h, " w2 ".16b, " word ".16b\n" #op " " s6 ".8h, " w3 ".8b, " word \
      ".8b\n" #op "2 " s7 ".8h, " w3 ".16b, " word ".16b\n"
#define MOTE_S(op, w0, w1, w2, w3, word) \
  MOTE_ROW(op, "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", w0, w1, w2, w3, word)

namespace mote {
namespace {

// ---- Nibbles by one row ----

/// acc += a group's products with the row, scaled. v0 to v7 are the sums, of outputs 0 and 1, 2 and 3, and so
/// on; v16 to v23 weights; v24 to v31 words.
template <class Format>
MOTE_INLINE static inline void multiply_nibbles(const typename Format::Supercell& cell, size_t g,
                                                const char* a, const RowGroups<1>& row,
                                                float32x4_t (&acc)[kPanelVectors]) {
  const auto& nibbles = cell.nibbles[g];
  const uint16_t* least = cell.scale[g];
  if constexpr (Format::kMinimum) least = cell.minimum[g];
  __asm__ volatile(
      "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[w0]]\n"
      "ld4r {v24.4s, v25.4s, v26.4s, v27.4s}, [%[a0]]\n"
      "ld4r {v28.4s, v29.4s, v30.4s, v31.4s}, [%[a1]]\n"
      MOTE_NIBBLES("v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23")
      MOTE_S(smull, "v20", "v21", "v22", "v23", "v24")
      "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [%[w1]]\n"
      MOTE_S(smlal, "v16", "v17", "v18", "v19", "v25")
      MOTE_NIBBLES("v20", "v21", "v22", "v23", "v16", "v17", "v18", "v19")
      MOTE_S(smlal, "v16", "v17", "v18", "v19", "v26")
      "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[w2]]\n"
      MOTE_S(smlal, "v20", "v21", "v22", "v23", "v27")
      MOTE_NIBBLES("v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23")
      MOTE_S(smlal, "v20", "v21", "v22", "v23", "v28")
      "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [%[w3]]\n"
      MOTE_S(smlal, "v16", "v17", "v18", "v19", "v29")
      MOTE_NIBBLES("v20", "v21", "v22", "v23", "v16", "v17", "v18", "v19")
      MOTE_S(smlal, "v16", "v17", "v18", "v19", "v30")
      "ld1 {v16.8h, v17.8h}, [%[scale]]\n"
      "ld2r {v24.4s, v25.4s}, [%[row]]\n"
      MOTE_S(smlal, "v20", "v21", "v22", "v23", "v31")
      "fcvtl v18.4s, v16.4h\nfcvtl2 v19.4s, v16.8h\nfcvtl v20.4s, v17.4h\nfcvtl2 v21.4s, v17.8h\n"
      "addp v0.8h, v0.8h, v1.8h\naddp v2.8h, v2.8h, v3.8h\naddp v4.8h, v4.8h, v5.8h\naddp v6.8h, v6.8h, v7.8h\n"
      "fmul v18.4s, v18.4s, v24.4s\nfmul v19.4s, v19.4s, v24.4s\n"
      "saddlp v0.4s, v0.8h\nsaddlp v2.4s, v2.8h\nsaddlp v4.4s, v4.8h\nsaddlp v6.4s, v6.8h\n"
      "fmul v20.4s, v20.4s, v24.4s\nfmul v21.4s, v21.4s, v24.4s\n"
      ".if %c[minimum] == 0\n"
      "add v0.4s, v0.4s, v25.4s\nadd v2.4s, v2.4s, v25.4s\nadd v4.4s, v4.4s, v25.4s\nadd v6.4s, v6.4s, v25.4s\n"
      ".endif\n"
      "scvtf v0.4s, v0.4s\nscvtf v2.4s, v2.4s\nscvtf v4.4s, v4.4s\nscvtf v6.4s, v6.4s\n"
      ".if %c[minimum]\n"
      "ld1 {v16.8h, v17.8h}, [%[least]]\n"
      ".endif\n"
      "fmla %[s0].4s, v18.4s, v0.4s\nfmla %[s1].4s, v19.4s, v2.4s\nfmla %[s2].4s, v20.4s, v4.4s\n"
      "fmla %[s3].4s, v21.4s, v6.4s\n"
      ".if %c[minimum]\n"
      "fcvtl v18.4s, v16.4h\nfcvtl2 v19.4s, v16.8h\nfcvtl v20.4s, v17.4h\nfcvtl2 v21.4s, v17.8h\n"
      "fmla %[s0].4s, v18.4s, v25.4s\nfmla %[s1].4s, v19.4s, v25.4s\nfmla %[s2].4s, v20.4s, v25.4s\n"
      "fmla %[s3].4s, v21.4s, v25.4s\n"
      ".endif\n"
      : [s0] "+w"(acc[0]), [s1] "+w"(acc[1]), [s2] "+w"(acc[2]), [s3] "+w"(acc[3])
      : [w0] "r"(nibbles[0]), [w1] "r"(nibbles[1]), [w2] "r"(nibbles[2]), [w3] "r"(nibbles[3]), [a0] "r"(a), [a1] "r"(a + 16), [scale] "r"(cell.scale[g]), [least] "r"(least), [row] "r"(&row),
        [minimum] "i"(Format::kMinimum), [fifteen] "w"(vdupq_n_u8(15))
      : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
        "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// ---- Bytes by two rows ----
//
// v0 to v7 are the sums of one row, v8 to v15 of the other, v16 to v23 weights of two words, v24 to v31
// words. A row's words are loaded when its last is multiplied, while the other row's are.

#define MOTE_T(op, w0, w1, w2, w3, word) \
  MOTE_ROW(op, "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", w0, w1, w2, w3, word)
#define MOTE_EVEN(op, next, word_s, word_t)             \
  "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [%[" #next \
  "]]\n" MOTE_S(op, "v16", "v17", "v18", "v19", word_s) MOTE_T(op, "v16", "v17", "v18", "v19", word_t)
#define MOTE_ODD(op, next, word_s, word_t)              \
  "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[" #next \
  "]]\n" MOTE_S(op, "v20", "v21", "v22", "v23", word_s) MOTE_T(op, "v20", "v21", "v22", "v23", word_t)
/// An instruction from and to the sums of both rows' outputs.
#define MOTE_EACH(op, to, from)                                                                          \
  #op " v0" to ", v0" from "\n" #op " v2" to ", v2" from "\n" #op " v4" to ", v4" from "\n" #op " v6" to \
      ", v6" from "\n" #op " v8" to ", v8" from "\n" #op " v10" to ", v10" from "\n" #op " v12" to       \
      ", v12" from "\n" #op " v14" to ", v14" from "\n"

/// acc[r] += a group's products with row r, scaled. (Outputs 0 to 3 of a row are in one register, and so on.)
template <class Format>
MOTE_INLINE static inline void multiply_bytes(const UnpackedGroup<Format>& w, const char* const (&a)[2],
                                              const RowGroups<2>& rows, float (&acc)[2][kPanelRows]) {
  const auto& q = w.weights.q;
  __asm__(
      "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[w0]]\n"
      "ld4r {v24.4s, v25.4s, v26.4s, v27.4s}, [%[a0]]\n"
      "ld4r {v28.4s, v29.4s, v30.4s, v31.4s}, [%[b0]]\n"
      MOTE_EVEN(smull, w1, "v24", "v28")
      MOTE_ODD(smlal, w2, "v25", "v29")
      MOTE_EVEN(smlal, w3, "v26", "v30")
      "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[w4]]\n"
      MOTE_S(smlal, "v20", "v21", "v22", "v23", "v27")
      "ld4r {v24.4s, v25.4s, v26.4s, v27.4s}, [%[a1]]\n"
      MOTE_T(smlal, "v20", "v21", "v22", "v23", "v31")
      "ld4r {v28.4s, v29.4s, v30.4s, v31.4s}, [%[b1]]\n"
      MOTE_EVEN(smlal, w5, "v24", "v28")
      MOTE_ODD(smlal, w6, "v25", "v29")
      MOTE_EVEN(smlal, w7, "v26", "v30")
      "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[scale]]\n"
      MOTE_S(smlal, "v20", "v21", "v22", "v23", "v27")
      "ld1 {v24.4s, v25.4s, v26.4s, v27.4s}, [%[acc0]]\n"
      MOTE_T(smlal, "v20", "v21", "v22", "v23", "v31")
      "ldr d20, [%[rows]]\n"
      "addp v0.8h, v0.8h, v1.8h\naddp v2.8h, v2.8h, v3.8h\naddp v4.8h, v4.8h, v5.8h\naddp v6.8h, v6.8h, v7.8h\n"
      "ld1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[acc1]]\n"
      "addp v8.8h, v8.8h, v9.8h\naddp v10.8h, v10.8h, v11.8h\naddp v12.8h, v12.8h, v13.8h\n"
      "addp v14.8h, v14.8h, v15.8h\n"
      MOTE_EACH(saddlp, ".4s", ".8h")
      "fmul v1.4s, v16.4s, v20.s[0]\nfmul v3.4s, v17.4s, v20.s[0]\nfmul v5.4s, v18.4s, v20.s[0]\n"
      "fmul v7.4s, v19.4s, v20.s[0]\nfmul v9.4s, v16.4s, v20.s[1]\nfmul v11.4s, v17.4s, v20.s[1]\n"
      "fmul v13.4s, v18.4s, v20.s[1]\nfmul v15.4s, v19.4s, v20.s[1]\n"
      MOTE_EACH(scvtf, ".4s", ".4s")
      "fmla v24.4s, v1.4s, v0.4s\nfmla v25.4s, v3.4s, v2.4s\nfmla v26.4s, v5.4s, v4.4s\nfmla v27.4s, v7.4s, v6.4s\n"
      "fmla v28.4s, v9.4s, v8.4s\nfmla v29.4s, v11.4s, v10.4s\nfmla v30.4s, v13.4s, v12.4s\n"
      "fmla v31.4s, v15.4s, v14.4s\n"
      ".if %c[minimum]\n"
      "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[least]]\nldr d20, [%[rows], 8]\n"
      "fmla v24.4s, v16.4s, v20.s[0]\nfmla v25.4s, v17.4s, v20.s[0]\nfmla v26.4s, v18.4s, v20.s[0]\n"
      "fmla v27.4s, v19.4s, v20.s[0]\nfmla v28.4s, v16.4s, v20.s[1]\nfmla v29.4s, v17.4s, v20.s[1]\n"
      "fmla v30.4s, v18.4s, v20.s[1]\nfmla v31.4s, v19.4s, v20.s[1]\n"
      ".endif\n"
      "st1 {v24.4s, v25.4s, v26.4s, v27.4s}, [%[acc0]]\n"
      "st1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[acc1]]\n"
      :
      : [w0] "r"(q[0]), [w1] "r"(q[1]), [w2] "r"(q[2]), [w3] "r"(q[3]), [w4] "r"(q[4]), [w5] "r"(q[5]), [w6] "r"(q[6]),
        [w7] "r"(q[7]), [a0] "r"(a[0]), [a1] "r"(a[0] + 16), [b0] "r"(a[1]), [b1] "r"(a[1] + 16), [acc0] "r"(acc[0]),
        [acc1] "r"(acc[1]), [rows] "r"(&rows), [scale] "r"(w.scale[0]), [least] "r"(w.scale[Format::kMinimum]),
        [minimum] "i"(Format::kMinimum)
      : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#undef MOTE_T
#undef MOTE_EVEN
#undef MOTE_ODD
#undef MOTE_EACH

// The products of two words of int8 in int16, added to int32. v24 to v31 are the weights of both words, and
// become those of the next two when they are multiplied.
#define MOTE_ADD(op, i) #op " %[s" #i "].4s, %[t" #i "].8h\n" #op " %[sh" #i "].4s, %[th" #i "].8h\n"
#define MOTE_TWO_QUADS(add, word0, word1, next0, next1)        \
  MOTE_QUAD(smull, t, "v24", "v25", "v26", "v27", word0)       \
  next0 MOTE_QUAD(smlal, t, "v28", "v29", "v30", "v31", word1) \
  next1 MOTE_ADD(add, 0) MOTE_ADD(add, 1) MOTE_ADD(add, 2) MOTE_ADD(add, 3)
#define MOTE_EVEN(from) "ld1 {v24.16b, v25.16b, v26.16b, v27.16b}, [" from "]\n"
#define MOTE_ODD(from) "ld1 {v28.16b, v29.16b, v30.16b, v31.16b}, [" from "]\n"
#define MOTE_EIGHT_QUADS(first) \
  "add x9, %[w], 64\nadd x10, %[w], 128\nadd x11, %[w], 192\nadd x12, %[w], 256\nadd x13, %[w], 320\n"          \
  "add x14, %[w], 384\nadd x15, %[w], 448\n" MOTE_EVEN("%[w]") MOTE_ODD("x9")                                      \
  "ld4r {v16.4s, v17.4s, v18.4s, v19.4s}, [%[a0]]\nld4r {v20.4s, v21.4s, v22.4s, v23.4s}, [%[a1]]\n"                \
  MOTE_TWO_QUADS(first, "v16", "v17", MOTE_EVEN("x10"), MOTE_ODD("x11"))                                          \
  MOTE_TWO_QUADS(sadalp, "v18", "v19", MOTE_EVEN("x12"), MOTE_ODD("x13"))                                         \
  MOTE_TWO_QUADS(sadalp, "v20", "v21", MOTE_EVEN("x14"), MOTE_ODD("x15"))                                         \
  MOTE_TWO_QUADS(sadalp, "v22", "v23", "", "")
#define MOTE_WIDE_OPERANDS(as)                                                                           \
  [s0] as(s.low[0]), [s1] as(s.low[1]), [s2] as(s.low[2]), [s3] as(s.low[3]), [sh0] as(s.high[0]),       \
      [sh1] as(s.high[1]), [sh2] as(s.high[2]), [sh3] as(s.high[3]), [t0] "=&w"(t[0]), [t1] "=&w"(t[1]), \
      [t2] "=&w"(t[2]), [t3] "=&w"(t[3]), [th0] "=&w"(t[4]), [th1] "=&w"(t[5]), [th2] "=&w"(t[6]),       \
      [th3] "=&w"(t[7])                                                                                  \
      : [w] "r"(w),                                                                                      \
        [a0] "r"(a),                                                                                     \
        [a1] "r"(a + 16)                                                                                 \
      : "memory",                                                                                        \
        "x9",                                                                                            \
        "x10",                                                                                           \
        "x11",                                                                                           \
        "x12",                                                                                           \
        "x13",                                                                                           \
        "x14",                                                                                           \
        "x15",                                                                                           \
        "v16",                                                                                           \
        "v17",                                                                                           \
        "v18",                                                                                           \
        "v19",                                                                                           \
        "v20",                                                                                           \
        "v21",                                                                                           \
        "v22",                                                                                           \
        "v23",                                                                                           \
        "v24",                                                                                           \
        "v25",                                                                                           \
        "v26",                                                                                           \
        "v27",                                                                                           \
        "v28",                                                                                           \
        "v29",                                                                                           \
        "v30",                                                                                           \
        "v31"

/// The sums of a panel in int32, of two columns each: lanes 0 and 1 are an output's, 2 and 3 the next one's.
struct PanelSums32 {
  int32x4_t low[kPanelVectors], high[kPanelVectors];
};

/// s = the products of 32 columns of int8 from `w` on, or s += them; no product is of -128 by -128.
template <bool kFirst>
MOTE_INLINE static inline void multiply_int8(const void* w, const char* a, PanelSums32& s) {
  int16x8_t t[2 * kPanelVectors];
  if constexpr (kFirst) {
    __asm__(MOTE_EIGHT_QUADS(saddlp) : MOTE_WIDE_OPERANDS("=&w"));
  } else {
    __asm__(MOTE_EIGHT_QUADS(sadalp) : MOTE_WIDE_OPERANDS("+w"));
  }
}

#undef MOTE_ADD
#undef MOTE_TWO_QUADS
#undef MOTE_EVEN
#undef MOTE_ODD
#undef MOTE_EIGHT_QUADS
#undef MOTE_WIDE_OPERANDS

/// Multiplies as multiply_int8() does, whatever the products.
template <bool kFirst>
MOTE_INLINE static inline void multiply_any_int8(const void* w, const char* a, PanelSums32& s) {
  const auto* q = static_cast<const int8_t*>(w);
  if constexpr (kFirst) {
    for (uint32_t v = 0; v < kPanelVectors; ++v) s.low[v] = s.high[v] = vdupq_n_s32(0);
  }
  MOTE_ROLLED for (uint32_t j = 0; j < kGroupColumns / 4; ++j) {
    const int8x16_t word = vreinterpretq_s8_s32(vdupq_n_s32(word_at(a + 4 * j)));
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
      const int8x16_t weights = vld1q_s8(q + (j * kPanelVectors + v) * 16);
      s.low[v] = vpadalq_s16(s.low[v], vmull_s8(vget_low_s8(weights), vget_low_s8(word)));
      s.high[v] = vpadalq_s16(s.high[v], vmull_high_s8(weights, word));
    });
  }
}

/// kLowest: activations may be -128.
template <bool kLowest>
struct Smlal {
  static constexpr uint32_t kRows = 1, kByteRows = 2, kLeastByteRows = 2, kUnpackRows = 8, kStart = 0;
  template <class Source, uint32_t R>
  static constexpr bool kTakesGroups = !Source::Weights::kBiased;
  template <uint32_t R>
  static constexpr bool kTakesRows = false;

  /// acc[r] = the products of `cells` unpacked groups with 2 rows, scaled.
  template <class Source, bool kAlone>
  static void take_groups(const typename Source::Cell* cell, const char* (&a)[2], const RowGroups<2>* rows,
                          size_t cells, CellsAhead<typename Source::Cell, kAlone>&,
                          float (&acc)[2][kPanelRows]) {
    memset(acc, 0, sizeof acc);
    for (const auto* end = cell + cells; cell != end; ++cell, ++rows) {
      multiply_bytes(*cell, a, *rows, acc);
      for (const char*& from : a) from += kGroupColumns;
    }
  }
  /// acc = the products of `cells` cells with one row, scaled.
  template <class Source, bool kAlone>
  static void take_groups(const typename Source::Cell* cell, const char* (&a)[1], const RowGroups<1>* rows,
                          size_t cells, CellsAhead<typename Source::Cell, kAlone>& ahead,
                          float (&acc)[1][kPanelRows]) {
    float32x4_t sums[kPanelVectors] = {};
    for (const auto* end = cell + cells; cell != end; ++cell, rows += 2, a[0] += 2 * kGroupColumns) {
      ahead.prefetch(cell);
      multiply_nibbles<typename Source::Weights>(*cell, 0, a[0], rows[0], sums);
      multiply_nibbles<typename Source::Weights>(*cell, 1, a[0] + kGroupColumns, rows[1], sums);
    }
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { vst1q_f32(acc[0] + 4 * v, sums[v]); });
  }

  /// s (+)= 32 columns of int8.
  template <bool kFirst>
  MOTE_INLINE static void multiply(const void* w, const char* a, PanelSums32& s) {
    if constexpr (kLowest) {
      multiply_any_int8<kFirst>(w, a, s);
    } else {
      multiply_int8<kFirst>(w, a, s);
    }
  }

  MOTE_INLINE static float32x4_t to_float(int32x4_t d) { return vcvtq_f32_s32(d); }

  template <uint32_t R>
  MOTE_INLINE static void dots(const int8_t (&q)[8][16][4], const char* const (&a)[R], const uint32_t (&)[R],
                               int32x4_t (&d)[R][kPanelVectors]) {
    static_assert(R == 1);
    PanelSums32 s;
    multiply<true>(q, a[0], s);
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { d[0][v] = vpaddq_s32(s.low[v], s.high[v]); });
  }

  /// The sums of a row of q8c.
  template <uint32_t R>
  struct Rows {
    static_assert(R == 1);
    PanelSums32 s;
    void begin() {
      for (uint32_t v = 0; v < kPanelVectors; ++v) s.low[v] = s.high[v] = vdupq_n_s32(0);
    }
    /// 64 columns.
    MOTE_INLINE void add(const void* w, const char* const (&a)[R]) {
      multiply<false>(w, a[0], s);
      multiply<false>(static_cast<const QuadQ8c*>(w) + kGroupColumns / 4, a[0] + kGroupColumns, s);
    }
    int32x4_t sum(uint32_t, uint32_t v) const { return vpaddq_s32(s.low[v], s.high[v]); }
  };
};

}  // namespace
}  // namespace mote

#undef MOTE_NIBBLES
#undef MOTE_ROW
#undef MOTE_S
#undef MOTE_QUAD
#undef MOTE_TWO
