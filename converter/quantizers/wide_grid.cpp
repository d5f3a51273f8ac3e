// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/wide_grid.h"

namespace mote::convert {
namespace {

constexpr float kMostSteps = 63;

struct Line {
  float scale = 0;
  float minimum = 0;
};

struct LineFit {
  Line line;
  Group q{};
  float error = 0;
};

LineFit try_line(const WeighedGroup& group, Line line, float most) {
  LineFit fit = {line, round_to_grid(group.values, line.scale, line.minimum, 0.0f, most), 0};
  fit.error = squared_error(group, fit.q, line.scale, line.minimum);
  return fit;
}

/// Least squares for the q of a fit, the minimum not above 0 and the scale not below.
Line refit(const WeighedGroup& group, const LineFit& fit) {
  const LineSums sums = line_sums(group, fit.q);
  if (sums.determinant() == 0.0f) return fit.line;
  const float scale = sums.scale();
  const float minimum = sums.minimum(scale);
  if (minimum > 0.0f) return {std::max(0.0f, sums.qv / sums.qq), 0.0f};
  return scale < 0.0f ? fit.line : Line{scale, minimum};
}

Line best_line(const WeighedGroup& group, float most) {
  const auto [least, largest] = std::minmax_element(group.values.begin(), group.values.end());
  const float low = std::min(0.0f, *least), range = *largest - low;
  LineFit best = try_line(group, {range / most, low}, most);
  const auto consider = [&](Line line) {
    const LineFit fit = try_line(group, line, most);
    if (fit.error < best.error) best = fit;
  };
  constexpr std::array<float, 4> kShrinks = {0.95f, 0.9f, 0.85f, 0.8f};
  consider(refit(group, best));
  for (const float shrink : kShrinks) {
    const float minimum = low + 0.5f * (1.0f - shrink) * range;
    const Line narrow = {shrink * range / most, std::min(0.0f, minimum)};
    consider(narrow);
    consider(refit(group, try_line(group, narrow, most)));
  }
  // A group dequantized from a file's own grid may not have used its ends.
  for (float steps = most - 1; steps >= 7; --steps) consider({range / steps, low});
  consider(refit(group, best));
  return best.line;
}

float nearest_steps(float value, float unit) {
  return unit == 0.0f ? 0.0f : std::clamp(round_even(value / unit), 0.0f, kMostSteps);
}

/// Groups [first, end) of a row, which share the units in out.scale and out.minimum.
void encode_groups(std::span<const float> row, std::span<const float> importance, size_t first, size_t end,
                   float most, QuantRow& out) {
  std::array<Line, kWideGroups> lines;
  Line largest;
  for (size_t g = first; g < end; ++g) {
    Line& line = lines[g - first] = best_line(weighed_group(row, importance, g), most);
    largest = {std::max(largest.scale, line.scale), std::min(largest.minimum, line.minimum)};
  }
  const Line unit = {unit_near(largest.scale / kMostSteps), -unit_near(-largest.minimum / kMostSteps)};
  out.scale.push_back(f16_from_f32(unit.scale));
  out.minimum.push_back(f16_from_f32(unit.minimum));
  for (size_t g = first; g < end; ++g) {
    const WeighedGroup group = weighed_group(row, importance, g);
    const float scale_steps = nearest_steps(lines[g - first].scale, unit.scale);
    const float minimum_steps = nearest_steps(lines[g - first].minimum, unit.minimum);
    LineFit best;
    Line steps = {-1, -1};
    for (float s = std::max(0.0f, scale_steps - 1); s <= std::min(kMostSteps, scale_steps + 1); ++s) {
      for (float m = std::max(0.0f, minimum_steps - 1); m <= std::min(kMostSteps, minimum_steps + 1); ++m) {
        const LineFit fit = try_line(group, {unit.scale * s, unit.minimum * m}, most);
        if (steps.scale >= 0.0f && fit.error >= best.error) continue;
        best = fit;
        steps = {s, m};
      }
    }
    out.scale_steps.push_back(static_cast<int8_t>(steps.scale));
    out.minimum_steps.push_back(static_cast<int8_t>(steps.minimum));
    for (const float q : best.q) out.q.push_back(static_cast<int8_t>(q));
  }
}

}  // namespace

void encode_wide(std::span<const float> row, std::span<const float> importance, float most, EncodedRow& out) {
  out.quant = {};
  const size_t groups = group_count(row.size());
  for (size_t first = 0; first < groups; first += kWideGroups)
    encode_groups(row, importance, first, std::min<size_t>(groups, first + kWideGroups), most, out.quant);
}

void decode_wide(const EncodedRow& row, std::span<float> out) {
  const QuantRow& from = row.quant;
  for (size_t k = 0; k < out.size(); ++k) {
    const size_t cell = k / kWideColumns, group = k / kGroupColumns;
    const float scale = f32_from_f16(from.scale[cell]) * static_cast<float>(from.scale_steps[group]);
    out[k] = scale * static_cast<float>(from.q[k]) +
             f32_from_f16(from.minimum[cell]) * static_cast<float>(from.minimum_steps[group]);
  }
}

}  // namespace mote::convert
