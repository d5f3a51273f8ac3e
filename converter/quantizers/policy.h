// SPDX-License-Identifier: Apache-2.0
//
// Which type each weight gets.
//
//   --type      matrices   embedding, head   positions, fine
//   q8          q8g32      q8g32             f32
//   (encoder)   q8c        q8g32             f32        the speed of matmuls of many rows counts there;
//                                                       matrices that lose much by it: q8g32
//                                                       (smooth_columns.h)
//   q4          q4k        q8g32             f32        the embedding and the head are what 4 bits hurt most;
//                                                       matrices of fewer than 512 columns: q4g32, whose
//                                                       scales then take fewer bits, and which firmware has
//                                                       kernels for
//   f32         f32        f32               f32
//   f16         f16        f16               f16
//   q8g32, ...  that type  that type         f32
//   (a GGUF)    by the file's type           f16 if the file has f16, else f32
//   (packed)    by the file's type, others as q8       matrices that another tool has packed
//   (else)      as q8
//
// Fine are the few numbers on which much depends: routers of experts, time steps of scans.
// Experts cannot have q8c: a row of their inputs has parts for several of them, and one scale.
// --head-type gives the head, and an embedding that is the head too, another type.
//
// By the file's type: F32, BF16 -> f32; F16 -> f16; the type that equals it (list.inc), with exactly the
// file's numbers; Q2_K, Q3_K -> q4k, IQ4_NL, MXFP4 -> q5k and Q5_0, Q5_1 -> q6k, the next larger type,
// rounded again. Norms, biases and frequencies are f32 always.
//
// BitNet's ternary matrices are q8c whatever the type: it holds them exactly, and rounds the activations as
// BitNet does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/source.h"
#include "schema/block_formats.h"

namespace mote::convert {

enum class Role : uint8_t { matrix, embedding, head, positions, fine, experts };

class TypePolicy {
 public:
  /// `type` and `head_type` as in ConvertOptions; `encoder` as in TransformerSpec. Throws Error for an
  /// unknown type, suggesting the nearest.
  TypePolicy(const std::string& type, const Source& source, bool encoder, const std::string& head_type = "");

  DType dtype(Role role, const SourceTensor& tensor) const;

  /// Says whether matrices have the types that suit them, not one that the user names for all.
  bool chooses() const { return chooses_; }

  /// For the report: "q4", or "as in the file".
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  // The types of matrices; of the embedding; of the head. None: by the file's type.
  std::optional<DType> matrix_, table_, head_;
  std::optional<DType> narrow_;  // of matrices of fewer than 512 columns, if it is another
  bool keeps_packed_ = false, chooses_ = false;
};

/// By the file's type, as above.
DType own_type(SourceType type);

/// Says whether a row of `tensor` becomes `dtype` with the file's own numbers.
bool is_exact(const SourceTensor& tensor, DType dtype);

}  // namespace mote::convert
