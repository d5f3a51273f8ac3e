// SPDX-License-Identifier: Apache-2.0
//
// A process in which somebody initialized XNNPACK before mote: the backend says so.
#include <xnnpack.h>

#include <cstdio>
#include <cstring>

#include "mote/xnnpack.h"

int main() {
  mote_error error = {};
  if (xnn_initialize(nullptr) != xnn_status_success) return 1;
  const mote_status status = mote_xnnpack_initialize(&error);
  std::printf("%d: %s\n", static_cast<int>(status), error.text);
  return status == MOTE_WRONG_STATE && std::strstr(error.text, "another part of this program") ? 0 : 1;
}
