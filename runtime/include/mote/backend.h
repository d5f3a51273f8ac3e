/* SPDX-License-Identifier: Apache-2.0 */
/* Lets another library compute the linear operations with f32 weights; mote/xnnpack.h gives one made with
 * XNNPACK.
 *
 *   options.backend = backend;  // made for the model, before mote_session_bytes and mote_session_init
 *
 * The backend multiplies and adds the bias; activation and residual stay with mote's kernels, and so do rows
 * whose result is not finite, because libraries differ in what they make of a NaN. Results agree with mote's
 * own within the rounding of float sums, not to the bit: what mote promises about equal bits (docs/design.md,
 * Determinism) holds with a backend as far as the library keeps it. A snapshot does not say which backend
 * made it.
 *
 * A backend is shared by any number of sessions of its model, in any number of threads: run_linear is called
 * by several at once.
 */
#ifndef MOTE_BACKEND_H_
#define MOTE_BACKEND_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mote_model;

#define MOTE_BACKEND_MOST_SLICES 256

/* An operation out[t][n] = bias[n] + sum over k of in[t][k] * w[n][k] of N outputs and K inputs. Its
   P = (N + 15) / 16 panels of 16 outputs are cut in S slices: slice i has the panels P * i / S to
   P * (i + 1) / S - 1 (integer division), and in the last one as many outputs as N leaves. */
typedef struct mote_linear {
  uint32_t outputs; /* N */
  uint32_t inputs;  /* K */
  uint32_t slices;  /* S: as many as the backend has, at most P */
  uint32_t unused;
  size_t in_stride;    /* floats from a row to the next */
  size_t out_stride;   /* the same of what run_linear writes */
  const float* weight; /* [P][K][16]: w[n][k] at ((n / 16) * K + k) * 16 + n % 16; in the file */
  const float* bias;   /* [N] or null; in the file */
  uint64_t reserved[4];
} mote_linear;

typedef struct mote_backend {
  const struct mote_model* model; /* of which it computes operations */
  void* user;
  uint32_t slices; /* 1 to MOTE_BACKEND_MOST_SLICES; as many as the sessions have threads use them all */
  uint32_t unused; /* 0 */

  /* Computes slice `slice` of operation `op` for `rows` >= 1 rows: out[t][n - its first output] for each of
     its outputs, rows being in_stride and out_stride apart. Up to 16 bytes behind a row of `in` may be read,
     nothing else be written. Allocates nothing. 0 if it could not: mote's kernel then does it. */
  int (*run_linear)(void* user, uint32_t op, uint32_t slice, const float* in, uint32_t rows, float* out);
  uint64_t reserved[4]; /* 0 */
} mote_backend;

/* The number of operations of a model. */
uint32_t mote_model_operations(const struct mote_model* model);

/* 1 and the operation as a backend of `slices` slices is given it, 0 if operation `op` is none for a backend.
 */
int mote_model_linear(const struct mote_model* model, uint32_t op, uint32_t slices, mote_linear* linear);

#ifdef __cplusplus
}
#endif
#endif
