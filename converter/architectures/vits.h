// SPDX-License-Identifier: Apache-2.0
//
// VITS (Kim et al. 2021): an encoder of letters, durations by a flow from noise, a flow from the letters'
// distributions to a spectrum, and HiFi-GAN (Kong et al. 2020) from there to samples.
#pragma once

#include <string>
#include <vector>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

struct VitsSizes {
  uint32_t width, latents;
  uint32_t speakers, speaker_width;  // 1 and 0: there is one, who has no embedding
  // Durations.
  uint32_t duration_taps, duration_layers, duration_flows, bins;
  float bound;
  // The flow of latents.
  uint32_t flows, wavenet_layers, wavenet_taps, wavenet_dilation;
  // Samples.
  uint32_t channels;
  bool convs_in_pairs;  // of HiFi-GAN's blocks: its first kind; the second has one convolution a dilation
  std::vector<uint32_t> rates, rate_taps, block_taps;
  std::vector<std::vector<uint32_t>> block_dilations;
  float slope;

  uint32_t hop() const;
  /// Frames on either side that a frame's samples depend on.
  uint32_t reach() const;
};

/// Adds to x, rows of a program, outputs [first, first + x.width) of the linear `source` of the embedding of
/// the speaker, who is the rows' token type. Adds nothing for a model of one speaker.
void add_speaker(TransformerBuilder& builder, const VitsSizes& sizes, const std::string& source,
                 const std::string& label, uint32_t outputs, uint32_t first, View x);

/// Builds the logarithm of the frames of a row [features, 2 floats of noise].
View build_vits_durations(TransformerBuilder& builder, const VitsSizes& sizes);
/// Latents of the spectrum from latents of the letters.
View build_vits_flow(TransformerBuilder& builder, const VitsSizes& sizes);
/// Samples of a frame from its latents.
View build_vits_samples(TransformerBuilder& builder, const VitsSizes& sizes);

}  // namespace mote::convert
