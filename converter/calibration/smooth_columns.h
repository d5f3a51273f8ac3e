// SPDX-License-Identifier: Apache-2.0
//
// Activation smoothing (SmoothQuant, Xiao et al. 2022) of encoders: the few columns that a norm makes large
// set the scale of a whole row of activations, and the others lose their bits. So each column is divided by a
// power of two before it is quantized, and the weights' column is multiplied by it, which changes nothing but
// the roundings:
//
//   s[k] = sqrt(a[k] / w[k]) / their geometric mean, to the nearest power of two
//
// where a[k] is the largest magnitude of the activations' column k in a run of the model in f32 on the
// reference kernels, and w[k] that of the column in all weights that read it.
#pragma once

#include <filesystem>
#include <functional>

#include "converter/graph.h"
#include "converter/tokenizers/tables.h"

namespace mote::convert {

/// The reason for q8c, the type of one scale for a row: the user named it, or `q8` takes it where it
/// suffices.
enum class RowScales { everywhere, where_they_suffice };

/// Smooths what an encoder's linears read of norms, token by token, where the graph quantizes it: gives those
/// quantizations their `columns` and the weights their `column_scales`. Decoders stay as they are.
///
/// Gives the inputs that lose most by one scale for a row, where they may have others, scales for 32 columns:
/// they and their weights become q8g32 until the root mean square of the losses (row_rounding.h) is small and
/// the mean cosine of the model's last rows to those in f32 is at least .999, or none is left.
///
/// The runs are those of an EncoderRun: `tokenizer` may be null, and temporary files lie beside `target`.
/// `progress` is called with the share done. Throws Error.
void smooth_columns(Graph& graph, RowScales row_scales, const TokenizerTables* tokenizer,
                    const std::filesystem::path& target, const std::function<void(double share)>& progress);

}  // namespace mote::convert
