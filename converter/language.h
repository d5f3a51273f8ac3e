// SPDX-License-Identifier: Apache-2.0
//
// Models of speech with a small adapter and a head for each language (MMS, Pratap et al. 2023): each language
// becomes a file of its own.
#pragma once

#include <string>

#include "converter/source.h"

namespace mote::convert {

/// Puts the weights of adapter.<language>.safetensors in place of the source's own; nothing for an empty
/// language. Throws Error for a model without such adapters, and for an unknown language, naming those that
/// there are.
void take_language(Source& source, const std::string& language);

}  // namespace mote::convert
