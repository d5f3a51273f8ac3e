// SPDX-License-Identifier: Apache-2.0
//
// Tests that need what this machine, or whoever runs them, does not have.
#pragma once

#if !defined(_WIN32)
#include <pty.h>
#include <unistd.h>
#endif

#include "tests/support/unity_style.h"

/// Ends the test unless the condition holds; ctest shows it as skipped. What scripts/install_packages
/// installs is no reason.
#define SKIP_UNLESS(condition, reason) \
  do {                                 \
    if (!(condition)) {                \
      WARN("skipped: " << reason);     \
      mote::testing::skipped = true;   \
      return;                          \
    }                                  \
  } while (false)

namespace mote::testing {

/// Whether a test of this run was skipped: a run without failures then ends with kSkipped, for ctest.
inline bool skipped = false;
constexpr int kSkipped = 77;

#if !defined(_WIN32)
/// A container may be without /dev/pts.
inline bool has_terminals() {
  int terminal = -1, other = -1;
  if (openpty(&terminal, &other, nullptr, nullptr, nullptr) != 0) return false;
  close(terminal);
  close(other);
  return true;
}
#endif

}  // namespace mote::testing

#define SKIP_WITHOUT_TERMINALS() \
  SKIP_UNLESS(mote::testing::has_terminals(), "this machine gives no terminals; is /dev/pts mounted?")
