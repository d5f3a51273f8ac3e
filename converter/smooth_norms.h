// SPDX-License-Identifier: Apache-2.0
//
// Smoothing for decoders, by a text and without an operation: a norm's weights and biases are divided by
// powers of two, s[k], and the columns of the matrices that read it are multiplied by them. Nothing changes
// but the roundings of the activations, which share a scale with 31 others or a whole row.
//
//   s[k] = sqrt(a[k] / w[k]) / their geometric mean, to the nearest power of two
//
// with a[k] and w[k] the root mean squares of the activations' and the matrices' column k.
#pragma once

#include "converter/text_run.h"

namespace mote::convert {

/// Smooths every norm that has weights of its own and only matrices behind it, which round its results, are
/// not tables and not read exactly. Returns how many. Throws Error.
size_t smooth_norms(Graph& graph, TextRun& text);

}  // namespace mote::convert
