// SPDX-License-Identifier: Apache-2.0
//
// Each group of 32 columns by itself.
#include "kernels/reference/quantize.inl.h"

namespace mote::ref {

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  each_group(args, rows, [&](uint32_t t, uint32_t k, uint32_t n, int8_t* q, float* scale, int32_t* sum) {
    quantize_group(args, t, k, n, kGroupColumns, q, scale, sum);
  });
}

}  // namespace mote::ref
