// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/linear_finish.inl.h"

void mote::avx2::finish_linear_tile(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                                    const float* sums) {
  finish_tile<Floats256>(args, row, rows, panel, sums);
}
