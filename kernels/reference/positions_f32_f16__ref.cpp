// SPDX-License-Identifier: Apache-2.0
//
// x[t] += table[indices[t]], table f16 in rows. One rounding.
#include "kernels/reference/positions.inl.h"

namespace mote::ref {

void positions_f32_f16(const PositionsArgs& args, Range rows, void*) { positions<uint16_t>(args, rows); }

}  // namespace mote::ref
