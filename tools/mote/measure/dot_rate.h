// SPDX-License-Identifier: Apache-2.0
//
// How fast this machine's vectors multiply and add, the limit of prompts and encoders. (AMX's tiles multiply
// bytes 8 times as fast as vectors of 512 bits: kernels that use them may be beyond it.)
#pragma once

#include "tools/mote/session.h"

namespace mote::cli {

/// Multiply-adds per second of the pool's threads together, the best of several passes over registers alone.
struct DotRate {
  double int8 = 0;  // 0 where bench has no loop for the CPU
  double f32 = 0;
};

DotRate dot_rate(const ThreadPool& pool);

}  // namespace mote::cli
