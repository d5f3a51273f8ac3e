// SPDX-License-Identifier: Apache-2.0
//
// Encoded rows into the byte orders of block_formats.h.
#pragma once

#include <cstddef>
#include <span>

#include "converter/quantizers/quantizer.h"

namespace mote::convert {

/// One P16K4 panel: up to 16 rows of `cols` columns into panel_bytes(dtype, cols) bytes; missing rows are
/// padding.
void pack_panel(DType dtype, uint64_t cols, std::span<const EncodedRow> rows, std::span<std::byte> out);

/// One row-major row into row_bytes(dtype, cols) bytes, of a type that has such rows.
void pack_row(DType dtype, const EncodedRow& row, std::span<std::byte> out);

}  // namespace mote::convert
