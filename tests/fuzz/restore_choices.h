// SPDX-License-Identifier: Apache-2.0
//
// An input of the target `restore` begins with bytes that choose options and calls
// (tests/support/any_session.h, any_calls.h).
#pragma once

#include <cstddef>

namespace fuzz {

inline constexpr size_t kRestoreChoices = 32;

}  // namespace fuzz
