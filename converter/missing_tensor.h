// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "converter/source.h"

namespace mote::convert {

/// Returns what of the config asks for a tensor that the source does not have, for the end of a message:
/// ": num_hidden_layers = 12 in config.json asks for layer 11, of which there are no weights"; "" where no
/// key is known to.
std::string asked_by(const Source& source, const std::string& name);

}  // namespace mote::convert
