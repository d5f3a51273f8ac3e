// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/floats_512.inl.h"
#include "kernels/x86/linear_finish.inl.h"

void mote::avx512_vnni::finish_linear_tile(const LinearArgs& args, uint32_t row, uint32_t rows,
                                           uint32_t panel, const float* sums) {
  finish_tile<Floats512>(args, row, rows, panel, sums);
}
