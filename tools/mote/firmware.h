// SPDX-License-Identifier: Apache-2.0
//
// Computes the memory that a model takes in firmware.
#pragma once

#include <cstdint>
#include <string>

#include "tools/mote/session.h"

namespace mote::cli {

struct FirmwareFlags {
  uint32_t context = 96;
  uint32_t chunk = 4;
  uint32_t text_bytes = 64;
};

/// One thread, keys and values in i8 where the model's heads allow it, small text buffers.
mote_session_options firmware_options(const ModelFile& file, const FirmwareFlags& flags);

/// Returns the memory on a processor of 32 bits, at most: tables that hold pointers are counted as on this
/// machine, and kernels of Cortex-M widen one row of activations. The image prints what it takes exactly.
mote_memory firmware_memory(const ModelFile& file, const mote_session_options& options);
uint64_t total(const mote_memory& memory);

/// Returns a sentence about a context whose keys and values take as much as those of a longer one, or "".
std::string page_remark(const ModelFile& file, uint32_t context);

}  // namespace mote::cli
