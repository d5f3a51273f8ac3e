// SPDX-License-Identifier: Apache-2.0
//
// Times of tokens by where attention heads look (openai/whisper, timing.py): each head's shares are made
// comparable between frames, smoothed and averaged, and dynamic time warping finds the way through them that
// never goes back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mote::host {

/// Gives each frame of shares [tokens, frames] mean 0 and variance 1 over the tokens, then takes the median
/// of the seven frames around each, those at the ends reflected. Fewer than four frames have no median.
void normalize_shares(std::span<float> shares, uint32_t tokens, uint32_t frames);

/// Returns the frame at which each token begins on the way of the least sum through `costs` [tokens, frames].
std::vector<uint32_t> warp_tokens(std::span<const float> costs, uint32_t tokens, uint32_t frames);

}  // namespace mote::host
