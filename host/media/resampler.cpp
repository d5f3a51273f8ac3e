// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "host/base/error.h"
#include "host/media/sound_file.h"

namespace mote::cli {
namespace {

constexpr double kPassed = 0.9;     // of half the lower rate
constexpr double kZeros = 16.0;     // of the sinc, on each side
constexpr double kBeta = 8.0;       // of the Kaiser window: 80 dB
constexpr uint32_t kMostUp = 4096;  // times between samples that are told apart
constexpr size_t kBlock = 4096;     // samples read at once

/// The modified Bessel function of order 0.
double bessel(double x) {
  double sum = 1.0, term = 1.0;
  for (int k = 1; k < 50; ++k) {
    term *= (x / (2.0 * k)) * (x / (2.0 * k));
    sum += term;
  }
  return sum;
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::fabs(angle) < 1e-9 ? 1.0 : std::sin(angle) / angle;
}

}  // namespace

Resampler::Resampler(SoundSource& source, uint32_t rate) : source_(source) {
  const uint32_t from = source.rate(), common = std::gcd(from, rate);
  up_ = rate / common;
  down_ = from / common;
  if (up_ > kMostUp) convert::fail("sound of {} samples a second cannot be resampled to {}", from, rate);
  if (up_ != down_) make_weights(kPassed * std::min(1.0, static_cast<double>(up_) / down_));
}

void Resampler::make_weights(double cutoff) {
  reach_ = static_cast<uint32_t>(std::ceil(kZeros / cutoff));
  weights_.resize(size_t{up_} * 2 * reach_);
  for (uint32_t phase = 0; phase < up_; ++phase) {
    float* weights = weights_.data() + size_t{phase} * 2 * reach_;
    double sum = 0;
    for (uint32_t i = 0; i < 2 * reach_; ++i) {
      const double distance = static_cast<double>(i) - (reach_ - 1) - static_cast<double>(phase) / up_;
      const double edge = distance / reach_;
      const double window = std::fabs(edge) >= 1.0 ? 0.0 : bessel(kBeta * std::sqrt(1.0 - edge * edge));
      const double weight = sinc(distance * cutoff) * window;
      weights[i] = static_cast<float>(weight);
      sum += weight;
    }
    for (uint32_t i = 0; i < 2 * reach_; ++i) weights[i] = static_cast<float>(weights[i] / sum);
  }
}

/// Holds the source's samples up to `end`, as far as there are any; whether there may be more.
bool Resampler::fill(uint64_t end) {
  while (first_ + held_.size() < end && end_ == UINT64_MAX) {
    const size_t held = held_.size();
    held_.resize(held + kBlock);
    const size_t count = source_.read(std::span(held_).subspan(held));
    held_.resize(held + count);
    if (count == 0) end_ = first_ + held;
  }
  return end_ == UINT64_MAX;
}

size_t Resampler::read(std::span<float> out) {
  if (weights_.empty()) return source_.read(out);
  size_t count = 0;
  for (; count < out.size(); ++count, ++next_) {
    const uint64_t at = next_ * down_ / up_, phase = next_ * down_ % up_;
    if (!fill(at + reach_ + 1) && at >= end_) break;
    const float* weights = weights_.data() + phase * 2 * reach_;
    double sum = 0;
    for (uint32_t i = 0; i < 2 * reach_; ++i) {
      const uint64_t shifted = at + i + 1;  // of the sample, plus reach
      if (shifted < reach_ + first_ || shifted - reach_ - first_ >= held_.size()) continue;
      sum += static_cast<double>(weights[i]) * static_cast<double>(held_[shifted - reach_ - first_]);
    }
    out[count] = static_cast<float>(sum);
    if (at > first_ + reach_ + kBlock) {
      const uint64_t drop = at - reach_ - first_;
      held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(drop));
      first_ += drop;
    }
  }
  return count;
}

}  // namespace mote::cli
