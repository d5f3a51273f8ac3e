// SPDX-License-Identifier: Apache-2.0
//
// Each row by itself.
#include "kernels/reference/quantize.inl.h"

namespace mote::ref {

void quantize_f32_q8c(const QuantizeArgs& args, Range rows, void*) {
  each_row(args, rows, [&](uint32_t t, uint32_t padded, int8_t* q, float* scale, int32_t* sum) {
    quantize_group(args, t, 0, args.width, padded, q, scale, sum);
  });
}

}  // namespace mote::ref
