// SPDX-License-Identifier: Apache-2.0
//
// mote forward of an encoder.
#pragma once

#include "tools/mote/forward/forward_case.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// Computes a case, as many sequences at once as the chunk holds, and stores what the model gives: logits [B,
/// T, W], [B, W] of sequences or [B, T] of a single label; start_logits and end_logits [B, T];
/// sentence_embedding [B, D]; last_hidden_state [B, T, D] and pooler_output [B, D] of models without a head.
/// With `hidden` also hidden.0 and so on [B, T, D].
void forward_encoder(const ModelFile& file, mote_session_options options, const Case& item, bool hidden,
                     Outputs& outputs);

/// Computes further segments of a model with a memory, each as a whole: sequence i goes on from sequence i of
/// the segment before. `outputs` has one for each segment.
void forward_segments(const ModelFile& file, mote_session_options options,
                      const std::vector<const Case*>& segments, bool hidden, std::vector<Outputs>& outputs);

}  // namespace mote::cli
