// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/core_status.h"

#include "host/base/error.h"

namespace mote::cli {

void check(mote_status status, const mote_error& error, const std::string& what) {
  if (status == MOTE_OK) return;
  const char* text = error.text[0] != '\0' ? error.text : mote_status_name(status);
  convert::fail("{}: {}", what, text);
}

}  // namespace mote::cli
