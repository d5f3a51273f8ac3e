/* SPDX-License-Identifier: Apache-2.0 */
/* A backend (mote/backend.h) that multiplies f32 matrices with XNNPACK, in a library of its own:
 * mote::xnnpack, where the distribution has XNNPACK.
 *
 *   mote_xnnpack_initialize(&error);
 *   size_t bytes = mote_xnnpack_bytes(model, threads, &error);
 *   void* region = NULL;
 *   posix_memalign(&region, MOTE_ALIGNMENT, bytes);
 *   const mote_backend* backend;
 *   mote_xnnpack_create(model, threads, region, bytes, &backend, &error);
 *   options.backend = backend;
 *
 * Memory: XNNPACK keeps a copy of every weight in an order of its own, so a region is about as large as the
 * model's f32 weights. It is the caller's and must outlive, unmoved, the sessions that use the backend;
 * nothing in it needs to be ended before its memory is reused. But for the first mote_xnnpack_initialize of a
 * process, nothing allocates.
 *
 * XNNPACK has one allocator for the whole process, and whoever initializes XNNPACK first sets it: mote's
 * gives memory of the region to the thread that is in mote_xnnpack_create, and malloc's to everybody else. An
 * application that uses XNNPACK itself, or a library that does, calls mote_xnnpack_initialize first.
 *
 * Threads: an operation is one XNNPACK operator for each slice, run in mote's own threads. An operator serves
 * one session at a time: sessions that come to the same slice at once wait for each other, for as long as a
 * slice takes. While XNNPACK computes, numbers below 2^-126 count as 0.
 */
#ifndef MOTE_XNNPACK_H_
#define MOTE_XNNPACK_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initializes XNNPACK, which allocates: it reads what processor this is. Later calls do nothing.
   MOTE_UNSUPPORTED_ISA if XNNPACK does not run here, MOTE_WRONG_STATE if somebody else initialized it before,
   with another allocator. */
mote_status mote_xnnpack_initialize(mote_error* error);

/* Exact bytes of the region for operations in `slices` slices, best the number of threads; 0 after an error.
   Initializes XNNPACK if nobody did. */
size_t mote_xnnpack_bytes(const mote_model* model, uint32_t slices, mote_error* error);

/* Makes the operators of all linear operations with f32 weights; of a model that has none, a backend that
   does nothing. MOTE_TOO_SMALL, MOTE_NOT_ALIGNED. */
mote_status mote_xnnpack_create(const mote_model* model, uint32_t slices, void* region, size_t bytes,
                                const mote_backend** backend, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
