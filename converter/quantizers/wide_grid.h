// SPDX-License-Identifier: Apache-2.0
//
// Groups of 32 with a scale and a minimum that are 6-bit multiples of two units per 256 columns.
#pragma once

#include "converter/quantizers/grid.h"

namespace mote::convert {

/// q from 0 to `most`. A group's scale and minimum, which is not above 0, are fitted alone; the units are the
/// largest of 8 groups over 63, and each group takes the multiples next to its own that lose least.
void encode_wide(std::span<const float> row, std::span<const float> importance, float most, EncodedRow& out);

void decode_wide(const EncodedRow& row, std::span<float> out);

}  // namespace mote::convert
