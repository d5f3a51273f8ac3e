// SPDX-License-Identifier: Apache-2.0
//
// x[t] += table[indices[t]], table f32 in rows. One rounding.
#include "kernels/reference/positions.inl.h"

namespace mote::ref {

void positions_f32_f32(const PositionsArgs& args, Range rows, void*) { positions<float>(args, rows); }

}  // namespace mote::ref
