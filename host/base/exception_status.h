// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mote/status.h"

namespace mote::api {

struct ExceptionStatus {
  mote_status code;
  std::string sentence;
};

/// Returns what was thrown as a status. Is called in a handler. An empty sentence: there was no memory for
/// one.
ExceptionStatus status_of_thrown() noexcept;

}  // namespace mote::api
