// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace mote::host {

/// Milliseconds since it was made or restarted.
class Timer {
 public:
  double ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }
  double restart() {
    const double elapsed = ms();
    begin_ = Clock::now();
    return elapsed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

/// Returns 0 where no time has passed.
inline double per_second(double count, double ms) { return ms > 0.0 ? 1000.0 * count / ms : 0.0; }

}  // namespace mote::host
