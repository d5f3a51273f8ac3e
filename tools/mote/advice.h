// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mote/host.h"

namespace mote::cli {

/// Returns what the command line adds to the sentence of a failure: which option or command helps.
const char* advice(mote_remedy remedy);

}  // namespace mote::cli
