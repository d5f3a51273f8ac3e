// SPDX-License-Identifier: Apache-2.0
//
// Bare metal: one thread, and the kernels that were linked.
#include "mote/platform.h"

mote_platform mote_platform_default(void) {
  mote_platform platform = {};
  platform.threads = 1;
  return platform;
}
