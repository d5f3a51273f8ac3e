// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "host/media/sides.h"

namespace mote::pictures {

/// Writes a PNG of 16 bits of grey; fill(y, row) gives row y, [width], from the first on. Throws
/// convert::Error, and then leaves no file behind.
void write_grey_png(const std::string& path, Sides sides,
                    const std::function<void(uint32_t y, uint16_t* row)>& fill);

}  // namespace mote::pictures
