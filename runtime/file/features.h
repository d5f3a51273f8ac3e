// SPDX-License-Identifier: Apache-2.0
//
// Refuses a file that needs features that a build for one model (kernels/trimmed_build.h) lacks, before
// anything reads them: their tables were not verified (file.h). Other builds lack nothing.
#pragma once

#include "runtime/file/model.h"

namespace mote {

mote_status check_operations(const file::Program& program, mote_error* error);

/// Proves what the model says of how tokens are chosen: its beam search, its sampling and rules.
mote_status check_choosing(const file::Model& root, mote_error* error);

/// Proves what an encoder says of its texts: global tokens, prompts, the similarity of vectors.
mote_status check_texts(const file::Model& root, mote_error* error);

/// Proves what the model says of sound and pictures.
mote_status check_media(const mote_model& model, mote_error* error);

}  // namespace mote
