// SPDX-License-Identifier: Apache-2.0
//
// Changes a .mote file where it hurts: the metadata is walked by the schema, so that a change hits a field
// and not just a byte, and most results still are FlatBuffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

/// Makes one to three changes in place. False, and nothing changed, where the metadata is no valid
/// FlatBuffer. `data` is 8-byte aligned.
bool mutate_model(uint8_t* data, size_t size, uint32_t seed);

}  // namespace fuzz
