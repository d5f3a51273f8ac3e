// SPDX-License-Identifier: Apache-2.0
//
// mote forward of an encoder that hears.
#pragma once

#include "tools/mote/forward/forward_case.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// The cases of a file as rows of the program's input: input_values [B, samples], or input_features or
/// input_values [B, rows, width] with an attention_mask [B, rows], 0 behind a sequence's end; of a model that
/// takes a fixed number of frames [B, width, frames]. Throws convert::Error.
std::vector<Case> read_sound_cases(const ModelFile& file, uint32_t program, const std::string& path);

/// Computes the cases of a file one sequence at a time. Stores what forward_encoder stores, a row for each
/// frame of the model's, and 0 behind a sequence's last.
void forward_sound(const ModelFile& file, const mote_session_options& options, const std::string& path,
                   bool hidden, Outputs& outputs);

}  // namespace mote::cli
