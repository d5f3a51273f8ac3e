// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "host/tasks/steps.h"

namespace mote::cli {

using host::Timer;

/// The processor's milliseconds that all threads of the process have taken.
inline double processor_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// 0 where no time has passed.
inline double per_second(double count, double ms) { return ms > 0.0 ? 1000.0 * count / ms : 0.0; }

}  // namespace mote::cli
