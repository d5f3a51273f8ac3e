// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/time_warp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace mote::host {
namespace {

enum class Came : uint8_t { from_both, from_token, from_frame };

void normalize_frames(std::span<float> shares, uint32_t tokens, uint32_t frames) {
  for (uint32_t frame = 0; frame < frames; ++frame) {
    double sum = 0, squares = 0;
    for (uint32_t token = 0; token < tokens; ++token)
      sum += static_cast<double>(shares[size_t{token} * frames + frame]);
    const double mean = sum / tokens;
    for (uint32_t token = 0; token < tokens; ++token)
      squares += std::pow(static_cast<double>(shares[size_t{token} * frames + frame]) - mean, 2);
    const double deviation = std::sqrt(squares / tokens);
    for (uint32_t token = 0; token < tokens; ++token) {
      float& share = shares[size_t{token} * frames + frame];
      const double part = (static_cast<double>(share) - mean) / deviation;
      share = std::isfinite(part) ? static_cast<float>(part) : 0.0f;  // all tokens look there alike
    }
  }
}

}  // namespace

void normalize_shares(std::span<float> shares, uint32_t tokens, uint32_t frames, uint32_t width) {
  normalize_frames(shares, tokens, frames);
  const auto reach = static_cast<int64_t>(width / 2), count = static_cast<int64_t>(frames);
  if (count <= reach) return;
  std::vector<float> row(frames), around(width);
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<float> of_token = shares.subspan(size_t{token} * frames, frames);
    std::copy(of_token.begin(), of_token.end(), row.begin());
    for (int64_t frame = 0; frame < count; ++frame) {
      for (int64_t i = -reach; i <= reach; ++i) {
        int64_t at = std::abs(frame + i);
        if (at >= count) at = 2 * (count - 1) - at;
        around[static_cast<size_t>(i + reach)] = row[static_cast<size_t>(at)];
      }
      const auto middle = around.begin() + reach;
      std::nth_element(around.begin(), middle, around.end());
      of_token[static_cast<size_t>(frame)] = *middle;
    }
  }
}

std::vector<uint32_t> warp_tokens(std::span<const float> costs, uint32_t tokens, uint32_t frames) {
  const size_t rows = size_t{tokens} + 1;
  std::vector<Came> came((size_t{frames} + 1) * rows, Came::from_frame);
  std::vector<float> before(rows, INFINITY), now(rows, INFINITY);  // sums of a frame, by tokens
  before[0] = 0;
  for (uint32_t frame = 1; frame <= frames; ++frame) {
    now[0] = INFINITY;
    for (uint32_t token = 1; token <= tokens; ++token) {
      const float both = before[token - 1], of_token = now[token - 1], of_frame = before[token];
      Came& way = came[frame * rows + token];
      float least = of_frame;
      if (both < of_token && both < of_frame) {
        least = both;
        way = Came::from_both;
      } else if (of_token < both && of_token < of_frame) {
        least = of_token;
        way = Came::from_token;
      }
      now[token] = costs[size_t{token - 1} * frames + frame - 1] + least;
    }
    std::swap(before, now);
  }
  std::vector<uint32_t> begins(tokens, 0);
  for (uint32_t token = tokens, frame = frames; token > 0 && frame > 0;) {
    begins[token - 1] = frame - 1;
    const Came way = came[frame * rows + token];
    if (way != Came::from_frame) --token;
    if (way != Came::from_token) --frame;
  }
  return begins;
}

}  // namespace mote::host
