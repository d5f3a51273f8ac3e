// SPDX-License-Identifier: Apache-2.0
//
// out = activation(gate) * up, 8 columns at a time, the last under a mask; out may be gate or up.
// Against the reference: 2^-24 relative more than the activation's bound (elementary.inl.h).
// The loop is bound by the division of the activations (5 to 6 cycles for 8) and has no carried sum: no
// unrolling.
#include "kernels/x86/elementary.inl.h"
#include "kernels/x86/floats_256.inl.h"

namespace mote::avx2 {

template <Activation kind>
static void gate_rows(const GateArgs& args, Range rows) {
  const uint32_t width = args.width;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* gate = args.gate[t];
    const float* up = args.up[t];
    float* out = args.out[t];
    for (uint32_t i = 0; i < width; i += kLanes) {
      const uint32_t left = width - i;
      store_first(
          out + i, left,
          _mm256_mul_ps(activate<Floats256>(kind, load_first(gate + i, left)), load_first(up + i, left)));
    }
  }
}

void gate_f32(const GateArgs& args, Range rows, void*) {
  switch (args.activation) {
    case Activation::none:
      return gate_rows<Activation::none>(args, rows);
    case Activation::silu:
      return gate_rows<Activation::silu>(args, rows);
    case Activation::gelu:
      return gate_rows<Activation::gelu>(args, rows);
    case Activation::gelu_tanh:
      return gate_rows<Activation::gelu_tanh>(args, rows);
    case Activation::relu:
      return gate_rows<Activation::relu>(args, rows);
    case Activation::quick_gelu:
      return gate_rows<Activation::quick_gelu>(args, rows);
    case Activation::tanh:
      return gate_rows<Activation::tanh>(args, rows);
  }
}

}  // namespace mote::avx2
