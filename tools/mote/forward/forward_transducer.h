// SPDX-License-Identifier: Apache-2.0
//
// mote forward of transducers.
#pragma once

#include "tools/mote/forward/forward_case.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// Computes for each sound of the file: encoder_hidden [B, F, D], and hidden.0 and so on, if wanted; logits
/// [B, F, T, V] of every frame behind every prefix of decoder_input_ids [B, T], if there are any; with
/// `generate` greedy_ids [B, N], at most so many, and greedy_frames [B, N], where each was said. The batch is
/// 1.
void forward_transducer(const ModelFile& file, const mote_session_options& options, const std::string& path,
                        uint32_t generate, bool hidden, Outputs& outputs);

}  // namespace mote::cli
