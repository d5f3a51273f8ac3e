// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/time_warp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace mote::host {
namespace {

enum class Came : uint8_t { from_both, from_token, from_frame };

constexpr uint32_t kReach = 3;  // frames on either side of one that its median is of

void normalize_frames(std::span<float> shares, uint32_t tokens, uint32_t frames) {
  std::vector<double> means(frames), deviations(frames);
  const auto of_token = [&](uint32_t token) { return shares.subspan(size_t{token} * frames, frames); };
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<const float> row = of_token(token);
    for (uint32_t frame = 0; frame < frames; ++frame) means[frame] += static_cast<double>(row[frame]);
  }
  for (double& mean : means) mean /= tokens;
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<const float> row = of_token(token);
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const double apart = static_cast<double>(row[frame]) - means[frame];
      deviations[frame] += apart * apart;
    }
  }
  // All tokens may look alike at a frame.
  for (double& deviation : deviations) deviation = deviation > 0 ? 1 / std::sqrt(deviation / tokens) : 0;
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<float> row = of_token(token);
    for (uint32_t frame = 0; frame < frames; ++frame)
      row[frame] = static_cast<float>((static_cast<double>(row[frame]) - means[frame]) * deviations[frame]);
  }
}

void exchange(float& low, float& high) {
  const float a = low, b = high;
  low = a < b ? a : b;
  high = a < b ? b : a;
}

/// Writes the medians of seven numbers, from each of `count` places of `from` on, by a network of exchanges,
/// which the compiler does for several places at once.
void medians(const float* __restrict from, uint32_t count, float* __restrict to) {
  for (uint32_t i = 0; i < count; ++i) {
    float a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3], e = from[i + 4], f = from[i + 5],
          g = from[i + 6];
    exchange(a, f), exchange(a, d), exchange(b, g), exchange(c, e), exchange(a, b), exchange(d, f);
    exchange(c, g), exchange(c, d), exchange(d, g), exchange(e, f), exchange(b, e), exchange(b, d);
    exchange(d, e);
    to[i] = d;
  }
}

}  // namespace

void normalize_shares(std::span<float> shares, uint32_t tokens, uint32_t frames) {
  normalize_frames(shares, tokens, frames);
  if (frames <= kReach) return;
  std::vector<float> padded(size_t{frames} + 2 * kReach);
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<float> row = shares.subspan(size_t{token} * frames, frames);
    std::copy(row.begin(), row.end(), padded.begin() + kReach);
    for (uint32_t i = 1; i <= kReach; ++i) {
      padded[kReach - i] = row[i];
      padded[kReach + frames - 1 + i] = row[frames - 1 - i];
    }
    medians(padded.data(), frames, row.data());
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
