// SPDX-License-Identifier: Apache-2.0
//
// The kernels of Linear share one linear_finish for each vector width: linear_finish__<isa>.cpp has it. A
// family runs that of the family whose vectors it takes.
#pragma once

#include "kernels/simd/linear_finish.inl.h"

namespace mote {

using LinearFinish = void(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                          const float* sums);
namespace sse {
LinearFinish finish_linear_tile;
}
namespace avx2 {
LinearFinish finish_linear_tile;
}
namespace avx512_vnni {
LinearFinish finish_linear_tile;
}

namespace {

struct Floats128;
struct Floats256;
struct Floats512;

template <>
inline void linear_finish<Floats128>(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                                     const float* sums) {
  sse::finish_linear_tile(args, row, rows, panel, sums);
}

template <>
inline void linear_finish<Floats256>(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                                     const float* sums) {
  avx2::finish_linear_tile(args, row, rows, panel, sums);
}

template <>
inline void linear_finish<Floats512>(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                                     const float* sums) {
  avx512_vnni::finish_linear_tile(args, row, rows, panel, sums);
}

}  // namespace
}  // namespace mote
