// SPDX-License-Identifier: Apache-2.0
//
// Resampling of pictures that lie turned in their files: the same sums of whole numbers as of upright ones,
// in the order in which their rows come, so the bytes are the same.
#include <algorithm>

#include "host/base/error.h"
#include "host/media/resample.h"

namespace mote::pictures {
uint64_t PartSums::most_bytes() const {
  // Both ends of what new pixels are made of never fall from one to the next.
  uint32_t most = 0;
  for (uint32_t first = 0, last = 0; last < weights_->count(); ++last) {
    while (first < last && weights_->end_of(first) <= weights_->begin_of(last)) ++first;
    most = std::max(most, last - first + 1);
  }
  return uint64_t{most} * values_ * sizeof(int64_t);
}

void PartSums::add(uint32_t at, const uint8_t* line,
                   const std::function<void(uint32_t index, const std::vector<uint8_t>& bytes)>& finished) {
  uint32_t begin = 0;
  for (uint32_t count = weights_->count(); count > 0;) {  // the first that ends behind `at`
    const uint32_t half = count / 2;
    const bool is_before = weights_->end_of(begin + half) <= at;
    begin += is_before ? half + 1 : 0;
    count = is_before ? count - half - 1 : half;
  }
  for (uint32_t index = begin; index < weights_->count() && weights_->begin_of(index) <= at; ++index) {
    const auto [place, is_new] = sums_.try_emplace(index);
    Sum& sum = place->second;
    if (is_new) sum = {std::vector<int64_t>(values_), weights_->end_of(index) - weights_->begin_of(index)};
    const int64_t weight = weights_->weight(index, at);
    for (size_t i = 0; i < values_; ++i) sum.values[i] += weight * line[i];
    if (--sum.missing != 0) continue;
    std::vector<uint8_t> bytes(values_);
    std::transform(sum.values.begin(), sum.values.end(), bytes.begin(), Weights::rounded);
    sums_.erase(place);
    finished(index, bytes);
  }
}

void Resampler::begin_turned(uint32_t width, uint32_t height) {
  const size_t values = kColours * (turn_.swaps ? size_t{height} : size_t{shape_.width});
  sums_.emplace(along_[turn_.swaps ? 0 : 1], values);
  const size_t made = size_t{shape_.height} * shape_.width * kColours;
  if (sums_->most_bytes() + made > limits_.bytes)
    convert::fail("a turned picture of {} x {} pixels takes too much memory; save it upright", width, height);
  made_.assign(made, 0);
}

void Resampler::row_of_turned(uint32_t index, const uint8_t* pixels) {
  const uint32_t place = turn_.from_below ? height_ - 1 - index : index;
  if (place < along_[1].begin() || place >= along_[1].end()) return;
  std::vector<uint8_t> resampled;
  resampled.reserve(size_t{shape_.width} * kColours);
  for (uint32_t x = 0; x < along_[0].count(); ++x) {
    for (size_t colour = 0; colour < kColours; ++colour)
      resampled.push_back(along_[0].sum(x, [&](uint32_t at) {
        return pixels[size_t{turn_.from_right ? width_ - 1 - at : at} * kColours + colour];
      }));
  }
  sums_->add(place, resampled.data(), [&](uint32_t row, const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), made_.begin() + static_cast<ptrdiff_t>(row * bytes.size()));
  });
}

void Resampler::column_of_turned(uint32_t index, const uint8_t* pixels) {
  const uint32_t place = turn_.from_right ? width_ - 1 - index : index;
  if (place < along_[0].begin() || place >= along_[0].end()) return;
  sums_->add(place, pixels, [&](uint32_t column, const std::vector<uint8_t>& bytes) {
    for (uint32_t y = 0; y < along_[1].count(); ++y) {
      for (size_t colour = 0; colour < kColours; ++colour)
        made_[(size_t{y} * shape_.width + column) * kColours + colour] = along_[1].sum(y, [&](uint32_t at) {
          return bytes[size_t{turn_.from_below ? height_ - 1 - at : at} * kColours + colour];
        });
    }
  });
}

}  // namespace mote::pictures
