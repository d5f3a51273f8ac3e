// SPDX-License-Identifier: Apache-2.0
//
// Which variable a name means. Jinja decides that before it renders: a loop, macro or block has variables of
// its own, and a name that is set anywhere in one means that one's variable everywhere in it, also before it
// is set.
#pragma once

#include "host/chat/jinja/tree.h"

namespace mote::convert::jinja {

/// Fills in scopes and places.
void resolve_names(Node& program);

}  // namespace mote::convert::jinja
