// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "converter/architectures/transformer_spec.h"
#include "converter/source.h"

namespace mote::convert {

/// Settles which matrices a spec whose head is the embedding has, by what the source holds: a head that
/// differs from the embedding stays a matrix of its own, and a head without an embedding is both. Returns a
/// note for the user where the source contradicts the config, else nothing.
std::string settle_tied_head(const Source& source, TransformerSpec& spec);

}  // namespace mote::convert
