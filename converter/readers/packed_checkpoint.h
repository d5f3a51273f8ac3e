// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that other tools have quantized, by config.json's quantization_config. A linear X of [out, in]
// becomes the tensor X.weight, whose rows are read with the file's own integers and scales:
//
//   gptq                 X.qweight I32 [in / n, out], n codes of 32 / n bits below each other in an integer;
//                        X.qzeros I32 [groups, out / n], side by side, each one less than the zero (gptq) or
//                        the zero (gptq_v2); X.scales [groups, out]; X.g_idx I32 [in]: a column's group
//   awq (gemm)           X.qweight I32 [in, out / 8], X.qzeros I32 [groups, out / 8], outputs 0 2 4 6 1 3 5 7
//                        from the lowest bits on; X.scales [groups, out]
//   awq (gemv)           X.qweight I32 [out, in / 8], X.qzeros I32 [out, w] of groups, both in order from the
//                        lowest bits on; X.scales [out, 8 w], of which those behind the groups say nothing
//   compressed-tensors
//     pack-quantized     X.weight_packed I32 [out, in / n], codes side by side, 2^(bits - 1) more than the
//                        integer; X.weight_scale [out, groups]; X.weight_zero_point I32 [out / n, groups],
//                        codes below each other, or none; X.weight_g_idx I32 [in], or none
//     int-quantized      X.weight I8 [out, in]; X.weight_scale [out, groups], [out, 1] or [1]
//     float-quantized    X.weight F8_E4M3 [out, in]; X.weight_scale [out, 1], [1] or that of blocks
//   fp8                  X.weight F8_E4M3 [out, in]; X.weight_scale_inv [out / h, in / w], of blocks [h, w]
//
// X has scales of its own where the config says that inputs are rounded by scales of the file (static ones):
// input_scale [1] and, of integers with a zero, input_zero_point I8 [1]; of fp8 activation_scale or
// input_scale.
//
// value = scale * (integer - zero). docs/quantization.md says which types hold which of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "converter/readers/safetensors.h"
#include "converter/source.h"

namespace mote::convert {

/// The methods by which a checkpoint is packed; `none` without a quantization_config, `ternary` BitNet's.
enum class PackedMethod {
  none,
  ternary,
  gptq,
  awq,
  compressed_integers,
  compressed_bytes,
  compressed_fp8,
  fp8,
  online_ternary,  // BitNet's plain matrices, which the original rounds as it loads them
  left_over        // a tool's that quantizes as it loads; the weights are plain
};

struct PackedFormat {
  PackedMethod method = PackedMethod::none;
  uint32_t bits = 0;
  uint32_t group = 0;                           // columns; 0: all of a row
  bool zeros_less_one = false;                  // GPTQ's first format
  bool by_outputs = false;                      // AWQ's for one row (gemv): integers lie as [out, in]
  bool rounds_activations = false;              // to 8 bits, a scale for each row
  bool fixed_scales = false;                    // of them: the file has one for each matrix
  bool rounds_to_floats = false;                // to E4M3, else to integers; of those with fixed scales
  uint32_t block_rows = 0, block_columns = 0;   // of FP8
  std::vector<std::string> plain_modules = {};  // of online_ternary: they start or end names of modules
};

/// Throws Error, naming the key, for a method or a setting that is not read.
PackedFormat read_packed_format(const nlohmann::json& config, const std::string& path);

/// Gives the matrices of layers the numbers that BitNet rounds them to: -1, 0 and 1 times the mean of a
/// matrix's magnitudes.
void round_to_ternary(Source& source, const PackedFormat& format);

/// Makes tensors of `packed`, those of I32, I8 and F8_E4M3, and of the scales among source.tensors. Throws
/// Error, naming the tensor.
void add_packed(Source& source, const PackedFormat& format, const NamedTensors& packed);

}  // namespace mote::convert
