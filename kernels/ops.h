// SPDX-License-Identifier: Apache-2.0
//
// The operations: one Args struct and contract each. The reference kernels in reference/ are the
// specification; a faster kernel equals its reference bitwise in integer matmuls and within the bound stated
// in its file elsewhere.
//
// Letters: T rows (tokens), N output width, K input width, H query heads, G KV heads, E head width (of values
// F).
//
// A kernel is called for a Range of its work units, by several threads at once for disjoint ranges; the
// result must not depend on how the units are split. `scratch` is 64-byte aligned, private to the call, of
// the bytes that the kernel states for a call of at most this shape (ScratchBytes). Rows are given as a
// pointer to the first and a stride in bytes (a multiple of 64; a row's columns start at a multiple of 4
// bytes, of 64 only where said). Inputs may be misaligned to any multiple of 4 bytes. Nothing is read or
// written past a row's last column, except that bias, norm weights and P16K4 panels are padded in the file.
// Shapes were proved by the verifier: kernels only assert.
#pragma once

#include <stdint.h>

#include "kernels/attention_ops.h"
#include "kernels/expert_ops.h"
#include "kernels/grid_ops.h"
#include "kernels/recurrent_ops.h"
#include "kernels/row_ops.h"
#include "kernels/stream_ops.h"
#include "kernels/time_ops.h"

namespace mote {

enum class Op : uint8_t {
#define OP(op, operation, types) k##op,
#include "kernels/op_list.inc"
  kAttentionMerge  // of no file: the second half of an attention whose positions were split
};

}  // namespace mote
