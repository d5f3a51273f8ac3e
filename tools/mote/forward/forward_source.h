// SPDX-License-Identifier: Apache-2.0
//
// mote forward of models that encode a source and generate tokens over it.
#pragma once

#include <optional>

#include "tools/mote/forward/forward_case.h"
#include "tools/mote/session.h"

namespace mote::cli {

struct SourceGeneration {
  uint32_t steps = 0;
  std::optional<int32_t> stop_id = std::nullopt;
  uint32_t beams = 0;  // of a search besides
  bool hidden = false;
};

/// encoder_hidden [B, S, D] of the sources, logits [B, T, V] of the targets, if there are any, and greedy_ids
/// [B, steps] that follow the model's start token; after the stop id a row repeats it. With beams also
/// beam_ids [B, beams, N], 0 behind the last token of each, and beam_scores [B, beams]. With `hidden` also
/// encoder.hidden.0, ... of the sources and hidden.0, ... of the targets.
void forward_source(const ModelFile& file, const mote_session_options& options, const Case& sources,
                    const std::optional<Case>& targets, const SourceGeneration& generation, Outputs& outputs);

}  // namespace mote::cli
