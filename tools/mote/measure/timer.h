// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "host/base/timer.h"

namespace mote::cli {

using host::per_second;
using host::Timer;

/// The processor's milliseconds that all threads of the process have taken.
inline double processor_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace mote::cli
