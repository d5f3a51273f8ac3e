// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/stretches.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mote::host {
namespace {

constexpr double kSearchSeconds = 8.0, kQuietSeconds = 0.1;

}  // namespace

size_t quietest_end(std::span<const float> samples, uint32_t rate) {
  const auto piece = static_cast<size_t>(kQuietSeconds * rate);
  size_t best = samples.size();
  double least = INFINITY;
  const size_t searched = std::min(static_cast<size_t>(kSearchSeconds * rate), samples.size() / 2);
  for (size_t at = samples.size() - searched; at + piece <= samples.size();
       at += std::max<size_t>(1, piece / 2)) {
    double energy = 0;
    for (const float sample : samples.subspan(at, piece)) energy += std::pow(static_cast<double>(sample), 2);
    if (energy > least) continue;
    least = energy;
    best = at + piece / 2;
  }
  return best;
}

Status read_stretches(SoundInput& sound, uint32_t rate, double seconds, const Hooks& hooks,
                      const std::function<Status(std::span<const float> samples, uint64_t first)>& take) {
  const auto most = static_cast<size_t>(std::llround(seconds * rate));
  std::vector<float> samples;
  uint64_t first = 0;
  for (bool ended = false; !ended || !samples.empty();) {
    if (hooks.stopped()) return cancelled();
    const size_t held = samples.size();
    samples.resize(most);
    size_t count = held;
    if (!ended) {
      MOTE_TAKE(const size_t more, sound.read(std::span(samples).subspan(held)));
      count += more;
    }
    ended = count < most;
    samples.resize(count);
    const size_t end = ended ? count : quietest_end(samples, rate);
    if (end > 0) MOTE_TRY(take(std::span<const float>(samples).first(end), first));
    first += end;
    samples.erase(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(end));
  }
  return {};
}

void normalize_samples(std::span<float> samples) {
  double sum = 0, squares = 0;
  for (const float sample : samples) sum += static_cast<double>(sample);
  const double mean = sum / static_cast<double>(samples.size());
  for (const float sample : samples) squares += std::pow(static_cast<double>(sample) - mean, 2);
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(samples.size()) + 1e-7);
  for (float& sample : samples) sample = static_cast<float>((static_cast<double>(sample) - mean) * scale);
}

}  // namespace mote::host
