// SPDX-License-Identifier: Apache-2.0
//
// The source's tensors by name, each shape checked where it is taken, and none left over.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "converter/graph.h"
#include "converter/source.h"

namespace mote::convert {

/// All members throw Error, naming the tensor.
class TensorSet {
 public:
  /// `source` must outlive the set and what it hands out.
  explicit TensorSet(const Source& source) : source_(source) {}

  bool has(const std::string& name) const;
  const Source& source() const { return source_; }

  /// The matrix [rows, cols], or [cols, rows] if `transposed`.
  WeightPart matrix(const std::string& name, uint32_t rows, uint32_t cols, bool transposed);

  /// Matrix `index` of a tensor [count, rows, cols], or [count, cols, rows] if `transposed`.
  WeightPart slice(const std::string& name, uint32_t index, uint32_t count, uint32_t rows, uint32_t cols,
                   bool transposed);

  /// Rows [first, first + count) of a matrix [rows, cols], or those as columns if `transposed`.
  WeightPart rows(const std::string& name, uint32_t rows, uint32_t cols, uint32_t first, uint32_t count,
                  bool transposed);

  /// A convolution's kernels, a tensor [rows, shape...], as a matrix.
  WeightPart kernels(const std::string& name, uint32_t rows, const std::vector<uint64_t>& shape);

  /// The values of a vector of `width`, all finite.
  std::vector<float> vector(const std::string& name, uint32_t width);

  /// The values of a tensor of `rows` rows, whatever its dimensions are, all finite: [rows, cols].
  std::vector<float> table(const std::string& name, uint32_t rows, uint32_t cols);

  /// A matrix [rows, cols] of values that were computed of the source's tensors, as a part of its own.
  WeightPart computed(const std::string& name, uint32_t rows, uint32_t cols,
                      const std::vector<float>& values);

  /// Marks a tensor that is known and not wanted.
  void ignore(const std::string& name) { taken_.insert(name); }

  /// Marks a matrix whose input is rounded as the file has it.
  void note_rounded_input(const std::string& name);

  /// Fails if a tensor was taken whose input the file has rounded and that nobody has marked as such. Fails
  /// if a tensor was not taken whose name has none of these ends and starts: weights that the architecture
  /// does not use would change its results.
  void finish(const std::vector<std::string>& ignored_ends,
              const std::vector<std::string>& ignored_starts = {}) const;

 private:
  /// Finds the tensor of that name, or of the name as PyTorch joins it, with "in_proj_" in place of
  /// "in_proj.".
  std::map<std::string, SourceTensor>::const_iterator find(const std::string& name) const;
  const SourceTensor& take(const std::string& name);

  const Source& source_;
  std::set<std::string> taken_;
  std::set<std::string> with_rounded_inputs_;
  std::deque<SourceTensor> slices_;
  std::deque<std::vector<float>> values_;  // of computed ones
};

}  // namespace mote::convert
