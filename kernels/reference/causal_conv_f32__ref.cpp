// SPDX-License-Identifier: Apache-2.0
//
// A convolution of each channel with the last rows of its sequence. Before the activation an output is within
// (L + 1) 2^-24 of the sum of magnitudes. The rows that it needs are kept while the next ones come, so out
// may be in.
#include "kernels/reference/activation.inl.h"
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {

void causal_conv_f32(const CausalConvArgs& args, Range units, void*) {
  const uint32_t kept = args.taps - 1, stride = args.state.cols;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
    const uint32_t first = own.block * kChannelBlock;
    const uint32_t width = args.width - first < kChannelBlock ? args.width - first : kChannelBlock;
    float* const tail = begin_state(args.state, args.rows, own.sequence, {0, kept}, {first, first + width});
    const float* const weight = args.weight + first;
    for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t]) {
      const float* const in = args.lanes.row(args.in, t) + first;
      float* const out = args.lanes.row(args.out, t) + first;
      for (uint32_t c = 0; c < width; ++c) {
        float sum = args.bias == nullptr ? 0.0f : args.bias[first + c];
        for (uint32_t tap = 0; tap < kept; ++tap) {
          float& earlier = tail[size_t{tap} * stride + c];
          sum += weight[size_t{tap} * args.width + c] * earlier;
          earlier = tap + 1 < kept ? tail[size_t{tap + 1} * stride + c] : in[c];
        }
        sum += weight[size_t{kept} * args.width + c] * in[c];
        out[c] = activate(args.activation, sum);
      }
    }
  }
}

}  // namespace mote::ref
