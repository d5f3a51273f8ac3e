// SPDX-License-Identifier: Apache-2.0
//
// The programs of a model that speaks (schema/mote.fbs, Voice).
#pragma once

#include "runtime/file/model.h"

namespace mote {

inline constexpr uint32_t kDurationProgram = 1, kFlowProgram = 2, kSampleProgram = 3, kVoicePrograms = 4;
inline constexpr uint32_t kDurationNoise = 2;  // floats behind the features of a token

struct VoiceWidths {
  uint32_t features, latents, hop;
};
/// Returns the widths of a model that has a voice.
VoiceWidths voice_widths(const mote_model& model);

/// Frames whose samples a run of the last program gives, beside those that they depend on.
inline uint32_t most_piece(const mote_model& model) {
  const file::Program& samples = *model.root->programs()->Get(kSampleProgram);
  return context_of(*model.root, samples) - 2 * model.root->voice()->reach();
}

}  // namespace mote
