// SPDX-License-Identifier: Apache-2.0
//
// Pictures of another size, byte for byte as Pillow's Image.resize makes them: the weights of all pixels that
// a new one covers, as fixed-point numbers; first along rows, then along columns, each rounded to bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/media/rows.h"
#include "host/media/sides.h"

namespace mote::pictures {

enum class Filter : uint8_t { lanczos = 1, bilinear = 2, bicubic = 3 };  // Pillow's numbers

/// The weights of one direction for new pixels [first, first + count) of `to` made of `from` ones.
class Weights {
 public:
  Weights(Filter filter, uint32_t from, uint32_t to, uint32_t first, uint32_t count);

  uint32_t count() const { return static_cast<uint32_t>(spans_.size()); }
  /// Old pixels [begin, end) that the new ones are made of.
  uint32_t begin() const { return spans_.front().begin; }
  uint32_t end() const;
  uint32_t begin_of(uint32_t index) const { return spans_[index].begin; }
  uint32_t end_of(uint32_t index) const { return spans_[index].begin + spans_[index].count; }
  /// The most that a new one is made of.
  uint32_t most() const;
  /// New pixel `index` of values at at(old pixel).
  template <class At>
  uint8_t sum(uint32_t index, At&& at) const {
    const Span& span = spans_[index];
    int64_t sum = 0;
    for (uint32_t i = 0; i < span.count; ++i) sum += int64_t{weights_[span.offset + i]} * at(span.begin + i);
    return rounded(sum);
  }
  /// That of old pixel `at` in new pixel `index`, which is made of it; and the byte that such sums are.
  int32_t weight(uint32_t index, uint32_t at) const {
    return weights_[spans_[index].offset + at - spans_[index].begin];
  }
  static uint8_t rounded(int64_t sum) {
    sum = (sum + (int64_t{1} << (kBits - 1))) >> kBits;
    return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }

 private:
  static constexpr int kBits = 22;
  struct Span {
    uint32_t begin, count;
    size_t offset;
  };
  std::vector<Span> spans_;
  std::vector<int32_t> weights_;
};

/// The shape that is wanted of a picture.
struct Shape {
  Sides full;                      // of all of it, resampled
  Sides crop;                      // of its middle; 0: it is not cropped
  uint32_t height = 0, width = 0;  // of the result
  Filter filter = Filter::bilinear;
  bool takes_others = false;  // a model for other sides could be made, which a message says
};

/// Sums of new pixels along one direction, whose old ones may come in any order: those alone are kept that
/// something is still missing of.
class PartSums {
 public:
  /// `values`: bytes at each place of the direction. `weights` must outlive it.
  PartSums(const Weights& weights, size_t values) : weights_(&weights), values_(values) {}

  /// The bytes that the most sums at a time take.
  uint64_t most_bytes() const;
  /// Takes `line` [values] at old place `at`. finished(index, bytes [values]) gets each new one.
  void add(uint32_t at, const uint8_t* line,
           const std::function<void(uint32_t index, const std::vector<uint8_t>& bytes)>& finished);

 private:
  struct Sum {
    std::vector<int64_t> values;
    uint32_t missing;
  };
  const Weights* weights_;
  size_t values_;
  std::map<uint32_t, Sum> sums_;
};

/// Makes a picture of the wanted shape of rows as they come: keeps those alone that rows of the result still
/// need, resampled. For a turned picture it keeps sums that are not complete.
class Resampler : public RowSink {
 public:
  Resampler(const Shape& shape, const Limits& limits) : shape_(shape), limits_(limits) {}

  using RowSink::begin;
  void begin(uint32_t width, uint32_t height, Turn turn) override;
  void row(const uint8_t* pixels) override;

  /// [height, width, 3] of the shape, after the last row.
  std::vector<uint8_t> result() const { return made_; }

 private:
  void begin_turned(uint32_t width, uint32_t height);
  void row_of_turned(uint32_t index, const uint8_t* pixels);
  void column_of_turned(uint32_t index, const uint8_t* pixels);

  Shape shape_;
  Limits limits_;
  Turn turn_;
  uint32_t width_ = 0, height_ = 0;  // of the picture as it is seen
  std::optional<PartSums> sums_;
  std::vector<Weights> along_;             // rows, then columns
  std::deque<std::vector<uint8_t>> kept_;  // rows [width, 3] that are still needed, from first_kept_ on
  uint32_t first_kept_ = 0, next_ = 0;
  std::vector<uint8_t> made_;  // rows of the result
};

}  // namespace mote::pictures
