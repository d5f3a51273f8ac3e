// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/source.h"

namespace mote::convert {

struct TiedNames {
  std::string embedding, head;
  bool tied;  // the head is the embedding
};
/// The embedding and the head of the model in the source. A head that the file has beside an embedding that
/// equals it, and that the config ties to it, is taken out of the source.
TiedNames join_tied_head(Source& source, const TransformerSpec& spec);

/// Settles which matrices a spec whose head is the embedding has, by what the source holds: a head that
/// differs from the embedding stays a matrix of its own, and a head without an embedding is both. Returns a
/// note for the user where the source contradicts the config, else nothing.
std::string settle_tied_head(const Source& source, TransformerSpec& spec);

}  // namespace mote::convert
