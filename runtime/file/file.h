// SPDX-License-Identifier: Apache-2.0
//
// The generated schema header, with FlatBuffers' asserts off: the verifier decides, a file never aborts.
#pragma once

#define FLATBUFFERS_ASSERT(condition) static_cast<void>(0)
#include "schema/mote_generated.h"
