// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes an element of a table or cache: float for f32, uint16_t for f16, Bf16.
#pragma once

#include "schema/bf16.h"

namespace mote::ref {

static inline float load(float value) { return value; }
static inline float load(uint16_t value) { return f32_from_f16(value); }
static inline void store(float value, float* out) { *out = value; }
static inline void store(float value, uint16_t* out) { *out = f16_from_f32(value); }
static inline float load(Bf16 value) { return f32_from_bf16(value); }
static inline void store(float value, Bf16* out) { *out = bf16_from_f32(value); }

}  // namespace mote::ref
