// SPDX-License-Identifier: Apache-2.0
//
// Smoothing for decoders, by a text and without an operation: what makes the columns of matrices' inputs is
// divided by powers of two, s[k], and the columns of the matrices are multiplied by them. Nothing changes but
// the roundings of the activations, which share a scale with 31 others or a whole row, and of the columns.
//
//   s[k] = sqrt(a[k] / w[k]) / their geometric mean, to the nearest power of two
//
// with a[k] and w[k] the root mean squares of the activations' and the matrices' column k.
#pragma once

#include "converter/calibration/smoothed_inputs.h"
#include "converter/calibration/text_run.h"

namespace mote::convert {

/// Smooths all that find_smoothed_inputs names and that is finite in the run. Returns how many. Throws Error.
size_t smooth_by_text(Graph& graph, TextRun& text);

}  // namespace mote::convert
