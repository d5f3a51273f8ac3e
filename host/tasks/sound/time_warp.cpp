// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/time_warp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace mote::host {
namespace {

enum class Came : uint8_t { from_both, from_token, from_frame };

constexpr uint32_t kSide = 16;  // frames whose medians are found side by side

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

/// Writes the medians of `width` numbers from each of kSide places of `padded` on: all are sorted by exchanges of
/// neighbours, side by side.
void medians(const float* padded, uint32_t width, float* sorted, float* out) {
  for (uint32_t i = 0; i < width; ++i) std::copy_n(padded + i, kSide, sorted + size_t{i} * kSide);
  for (uint32_t round = 0; round < width; ++round) {
    for (uint32_t i = round % 2; i + 1 < width; i += 2) {
      float *low = sorted + size_t{i} * kSide, *high = low + kSide;
      for (uint32_t j = 0; j < kSide; ++j) {
        const float a = low[j], b = high[j];
        low[j] = a < b ? a : b;
        high[j] = a < b ? b : a;
      }
    }
  }
  std::copy_n(sorted + size_t{width / 2} * kSide, kSide, out);
}

}  // namespace

void normalize_shares(std::span<float> shares, uint32_t tokens, uint32_t frames, uint32_t width) {
  normalize_frames(shares, tokens, frames);
  const uint32_t reach = width / 2;
  if (frames <= reach) return;
  std::vector<float> padded(size_t{frames} + 2 * reach + kSide), sorted(size_t{width} * kSide), found(kSide);
  for (uint32_t token = 0; token < tokens; ++token) {
    const std::span<float> row = shares.subspan(size_t{token} * frames, frames);
    std::copy(row.begin(), row.end(), padded.begin() + reach);
    for (uint32_t i = 1; i <= reach; ++i) {
      padded[reach - i] = row[i];
      padded[reach + frames - 1 + i] = row[frames - 1 - i];
    }
    for (uint32_t frame = 0; frame < frames; frame += kSide) {
      medians(padded.data() + frame, width, sorted.data(), found.data());
      std::copy_n(found.begin(), std::min(kSide, frames - frame), row.begin() + frame);
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
