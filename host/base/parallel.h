// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace mote::convert {

/// Calls work(i) for every i below `count`, on at most 8 threads. The first exception is thrown again.
void parallel(uint32_t count, const std::function<void(uint32_t)>& work);

}  // namespace mote::convert
