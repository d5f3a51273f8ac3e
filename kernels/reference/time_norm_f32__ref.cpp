// SPDX-License-Identifier: Apache-2.0
//
// A group norm over the rows of a sequence.
#include "kernels/reference/activation.inl.h"
#include "kernels/reference/time_norm.inl.h"

namespace mote::ref {

void time_norm_f32(const TimeNormArgs& args, Range units, void*) {
  time_norm_units(
      args, units,
      [&](uint32_t t, uint32_t begin, uint32_t end, const double* mean, const double* scale, uint32_t step) {
        for (uint32_t i = begin; i < end; ++i) {
          const uint32_t at = (i - begin) * step;
          const float value = normed(args.in[t][i], mean[at], scale[at]);
          args.out[t][i] = activate(args.activation, value * args.weight[i] + args.bias[i]);
        }
      });
}

}  // namespace mote::ref
