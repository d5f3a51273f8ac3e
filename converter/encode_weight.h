// SPDX-License-Identifier: Apache-2.0
//
// A weight's bytes, made block by block: about 64 MiB of rows at a time, whatever its size, the work of a
// block shared by threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "converter/calibration/error_feedback.h"
#include "converter/graph.h"

namespace mote::convert {

struct EncodeResult {
  uint64_t hash;          // xxh64 of the bytes
  double relative_error;  // |w - w'| / |w| (Frobenius), w with its columns and rows scaled
};

/// Bytes of the weight in the file, a multiple of 64.
uint64_t encoded_bytes(const Weight& weight);

/// The largest magnitude in each column, before it and the rows are scaled.
std::vector<float> column_magnitudes(const Weight& weight);

/// The sum of the squares of each column, before it and the rows are scaled.
std::vector<double> column_squares(const Weight& weight);

/// Returns for each `group` neighbouring columns the sum over the rows of the square of the largest
/// magnitude, once columns are multiplied by `scales`; empty: 1.
std::vector<double> largest_squares(const Weight& weight, const std::vector<float>& scales, size_t group);

/// Say whether all or some rows have their own numbers in the weight's type.
bool is_read_exactly(const Weight& weight);
bool has_exact_part(const Weight& weight);

/// Gives the weight's bytes to `sink` in order, its rows rounded with feedback if there is any. Throws Error,
/// naming the source's tensor and element, for a weight that is not finite or too large for the type.
EncodeResult encode_weight(const Weight& weight, const std::function<void(std::span<const std::byte>)>& sink,
                           const ErrorFeedback* feedback = nullptr);

}  // namespace mote::convert
