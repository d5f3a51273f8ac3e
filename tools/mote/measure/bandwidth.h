// SPDX-License-Identifier: Apache-2.0
//
// How fast this machine reads memory, the limit of decoding.
#pragma once

#include <cstdint>

#include "tools/mote/session.h"

namespace mote::cli {

/// Bytes per second, the best of several passes over `bytes` of memory, shared evenly by the pool's threads.
/// Throws convert::Error if there is not so much memory.
double read_bandwidth(uint64_t bytes, const ThreadPool& pool);

}  // namespace mote::cli
