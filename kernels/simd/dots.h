// SPDX-License-Identifier: Apache-2.0
//
// Dot products of small integers, as linear_dots.inl.h takes them: a struct V of types, constants and static
// functions (x86/vnni_256.inl.h). Weights are bytes in words of 4 columns, a word for each output.
//
// Types and constants
//   Int, Float      kPanelRows / kVectors words or int32, and as many floats
//   kVectors        of a panel's outputs
//   kWeightBias     128 where dot takes weights as unsigned: int8 weights then have 128 added, and the sum
//                   starts at minus what that adds. 0 where dot takes weights as signed.
//   kRowPanels      panels that a tile of one row reads side by side: kLinearStreams, or 1
//   kPairRows       rows of a tile by two panels, kSingleRows by one: by the number of registers
//   kUnpacks        whether many rows find their weights unpacked to bytes
//   kUnrolls        whether loops over arrays of registers are unrolled
//   kUnrollsQuads   whether loops over the 8 quads of a group are, too: faster, and many times the code
//
// Integers (dot_words.h has all for any vector but load, store, dot, minus_32 and pin)
//   load(p), store(p, n)      aligned to their size
//   zero(), set(i)            i in each lane
//   broadcast_word(p)         4 bytes from anywhere in each lane
//   dot(sum, w, a)            each lane of sum plus the 4 products of bytes, exactly, mod 2^32. kWeightBias
//                             says whether w is unsigned or signed; a is signed, and may be -128
//   dot_word(sum, w, p)       the same with the word at p, where kVectors is 1
//   add_128(w)                to each byte, where kWeightBias is 128
//   low_nibbles(w), high_nibbles(w)    of each byte, as a byte
//   high_nibbles_in_place(w)  16 times the high nibble of each byte, where kWeightBias is 128: a signed byte
//                             cannot hold it
//   add_sixteenth(sum, n)     sum + n / 16, where kWeightBias is 128
//   minus_times<f>(n)         -f n, f a power of two, mod 2^32
//   pin(n)                    keeps n in a register, or nothing
//
// Integers of linear_decoded.inl.h, whose weights are below 64
//   store(p, n)               aligned to its size
//   shifted<by, mask>(n)      n << by, or n >> -by, & mask, in each int32
//   signed_byte<i>(n)         byte i of each int32
//   either(n, n)              the bits of both
//   plus(n, n), times(n, n)   mod 2^32
//   minus_32(w)               from each byte, where kWeightBias is 0
//
// Floats (DotFloats of linear_finish.inl.h has those of the first line)
//   set(f), mul, add, load_first(p, n), store_first(p, n, x), finish    as in floats.h; linear_finish
//   load_f32(p), store_f32(p, x), load_f16(p)    aligned to their size
//   convert(n)                an Int to floats, to nearest even
//   fma(a, b, c)              rounded once on every CPU, so that results equal the reference bitwise
#pragma once

#include "kernels/ops.h"
#include "kernels/simd/check.h"

namespace mote {
namespace {

template <class V>
struct CheckDots {
  static_assert(V::kVectors == 1 || V::kVectors == 2 || V::kVectors == 4, "kVectors is 1, 2 or 4");
  static_assert(V::kWeightBias == 0 || V::kWeightBias == 128, "kWeightBias is 0 or 128");
  static_assert(V::kRowPanels == kLinearStreams || V::kRowPanels == 1, "kRowPanels is kLinearStreams or 1");
  MOTE_NEEDS(V, v.kPairRows + v.kSingleRows);
  MOTE_NEEDS(V, v.kUnpacks);
  MOTE_NEEDS(V, v.kUnrolls);
  MOTE_NEEDS(V, v.kUnrollsQuads);
  MOTE_NEEDS(V, v.n = v.load(static_cast<const void*>(nullptr)));
  MOTE_NEEDS(V, v.n = v.zero());
  MOTE_NEEDS(V, v.n = v.set(int32_t{0}));
  MOTE_NEEDS(V, v.n = v.broadcast_word(static_cast<const char*>(nullptr)));
  MOTE_NEEDS(V, v.n = v.dot(v.n, v.n, v.n));
  MOTE_NEEDS(V, v.n = v.low_nibbles(v.n));
  MOTE_NEEDS(V, v.n = v.high_nibbles(v.n));
  MOTE_NEEDS(V, v.n = v.template minus_times<8>(v.n));
  MOTE_NEEDS(V, v.pin(v.n));
  MOTE_NEEDS(V, v.x = v.set(0.0f));
  MOTE_NEEDS(V, v.x = v.load_f32(static_cast<const float*>(nullptr)));
  MOTE_NEEDS(V, v.store_f32(static_cast<float*>(nullptr), v.x));
  MOTE_NEEDS(V, v.x = v.load_f16(static_cast<const uint16_t*>(nullptr)));
  MOTE_NEEDS(V, v.x = v.convert(v.n));
  MOTE_NEEDS(V, v.x = v.mul(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.add(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.fma(v.x, v.x, v.x));
  MOTE_NEEDS(V, v.x = v.load_first(static_cast<const float*>(nullptr), 1u));
  MOTE_NEEDS(V, v.store_first(static_cast<float*>(nullptr), 1u, v.x));
  static constexpr bool kPasses = true;
};

}  // namespace
}  // namespace mote
