// SPDX-License-Identifier: Apache-2.0
//
// An input of the target `model` ends in bytes that choose options and calls (tests/support/any_session.h,
// any_calls.h).
#pragma once

#include <cstddef>

namespace fuzz {

inline constexpr size_t kModelChoices = 64;

/// Bytes of an input that are the file.
inline size_t file_bytes(size_t input_bytes) {
  return input_bytes < kModelChoices ? input_bytes : input_bytes - kModelChoices;
}

}  // namespace fuzz
