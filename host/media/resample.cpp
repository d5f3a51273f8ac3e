// SPDX-License-Identifier: Apache-2.0
#include "host/media/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "host/base/error.h"

namespace mote::pictures {
namespace {

double sinc(double x) { return x == 0 ? 1.0 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi); }

/// Pixels that a filter reaches to either side.
double reach_of(Filter filter) {
  return filter == Filter::lanczos ? 3.0 : filter == Filter::bicubic ? 2.0 : 1.0;
}

double weight_at(Filter filter, double x) {
  if (filter == Filter::lanczos) return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
  x = std::fabs(x);
  if (filter == Filter::bilinear) return x < 1.0 ? 1.0 - x : 0.0;
  constexpr double kA = -0.5;
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * kA : 0.0;
}

}  // namespace

Weights::Weights(Filter filter, uint32_t from, uint32_t to, uint32_t first, uint32_t count) {
  const double scale = static_cast<double>(from) / to, stretch = std::max(scale, 1.0);
  const double support = reach_of(filter) * stretch;
  std::vector<double> row;
  for (uint32_t i = first; i < first + count; ++i) {
    const double center = (i + 0.5) * scale;
    const auto begin = static_cast<int64_t>(std::max(0.0, center - support + 0.5));
    const auto end = std::min(static_cast<int64_t>(center + support + 0.5), int64_t{from});
    row.clear();
    double sum = 0;
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      row.push_back(weight_at(filter, (static_cast<double>(pixel) - center + 0.5) * (1.0 / stretch)));
      sum += row.back();
    }
    spans_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(row.size()), weights_.size()});
    for (const double weight : row) {
      const double fixed = (sum != 0 ? weight / sum : weight) * (1 << kBits);
      weights_.push_back(static_cast<int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
    }
  }
}

uint32_t Weights::most() const {
  uint32_t most = 0;
  for (const Span& span : spans_) most = std::max(most, span.count);
  return most;
}

uint32_t Weights::end() const { return spans_.back().begin + spans_.back().count; }

void Resampler::begin(uint32_t width, uint32_t height, Turn turn) {
  turn_ = turn;
  width_ = width;
  height_ = height;
  const Sides full = shape_.full;
  const bool crops = shape_.crop.height != 0;
  const uint32_t rows = crops ? shape_.crop.height : full.height,
                 columns = crops ? shape_.crop.width : full.width;
  if (rows != shape_.height || columns != shape_.width || full.height < rows || full.width < columns) {
    convert::fail("a picture of {} x {} pixels becomes {} x {}, but the model takes {} x {}{}", width, height,
                  columns, rows, shape_.width, shape_.height,
                  shape_.takes_others && columns != 0 && rows != 0
                      ? fmt::format("; convert it with --picture-size {}x{}", columns, rows)
                      : "");
  }
  if (std::max(full.height, full.width) > limits_.pixels)
    convert::fail("a picture of {} x {} pixels is too narrow for its length", width, height);
  const auto first = [](uint32_t of, uint32_t part) { return (of - part) / 2; };
  along_.clear();
  along_.emplace_back(shape_.filter, width, full.width, first(full.width, shape_.width), shape_.width);
  along_.emplace_back(shape_.filter, height, full.height, first(full.height, shape_.height), shape_.height);
  next_ = 0;
  if (!turn.is_none()) return begin_turned(width, height);
  const uint64_t rows_kept = uint64_t{shape_.height} + along_[1].most();
  if (rows_kept * shape_.width * kColours > limits_.bytes)
    convert::fail("a picture of {} x {} pixels takes too much memory", width, height);
  kept_.clear();
  made_.clear();
  made_.reserve(size_t{shape_.height} * shape_.width * kColours);
  first_kept_ = along_[1].begin();
}

void Resampler::row(const uint8_t* pixels) {
  const uint32_t index = next_++;
  if (!turn_.is_none()) return turn_.swaps ? column_of_turned(index, pixels) : row_of_turned(index, pixels);
  if (index < along_[1].begin() || index >= along_[1].end()) return;
  std::vector<uint8_t> resampled;
  resampled.reserve(size_t{shape_.width} * kColours);
  for (uint32_t x = 0; x < along_[0].count(); ++x) {
    for (size_t colour = 0; colour < kColours; ++colour)
      resampled.push_back(along_[0].sum(x, [&](uint32_t at) { return pixels[at * kColours + colour]; }));
  }
  kept_.push_back(std::move(resampled));
  const size_t row_bytes = size_t{shape_.width} * kColours;
  for (uint32_t made = static_cast<uint32_t>(made_.size() / row_bytes);
       made < along_[1].count() && along_[1].end_of(made) == index + 1; ++made) {
    for (; first_kept_ < along_[1].begin_of(made); ++first_kept_) kept_.pop_front();
    for (size_t i = 0; i < row_bytes; ++i)
      made_.push_back(along_[1].sum(made, [&](uint32_t at) { return kept_[at - first_kept_][i]; }));
  }
}

}  // namespace mote::pictures
