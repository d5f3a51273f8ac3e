/* SPDX-License-Identifier: Apache-2.0 */
/* Features of sound, computed as the models' feature extractors do. Nothing allocates. */
#ifndef MOTE_SOUND_H
#define MOTE_SOUND_H

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whisper's features: frames of `fft` samples in a periodic Hann window, `hop` apart and centred on every hop,
   the sound being reflected at its ends; the powers of their spectrum, summed by filters; logarithms to the
   base of 10, of at least 1e-10 and at most 8 below the largest of all; plus 4, over 4. */
typedef struct mote_log_mel {
  uint32_t fft;  /* even, from 2 to MOTE_MOST_FFT */
  uint32_t hop;  /* samples */
  uint32_t mels; /* features of a frame */
  uint32_t bins; /* fft / 2 + 1 */
  const float* filters; /* [mels, bins] */
  uint32_t window;      /* of mote_log_mel_frames: samples of a symmetric Hann window in the middle of a frame; 0:
                           a periodic one of fft */
  uint32_t natural;     /* 1: natural logarithms of sums plus 2^-24, as NeMo has them, in place of those above */
  uint64_t reserved[3];
} mote_log_mel;

enum { MOTE_MOST_FFT = 4096 };

/* Bytes of scratch. */
size_t mote_log_mel_bytes(const mote_log_mel* spec);

/* features [n / hop, mels] of n samples, more than fft / 2. `scratch` is 8-byte aligned.
   MOTE_INVALID_ARGUMENT for sizes that are none. */
mote_status mote_log_mel_compute(const mote_log_mel* spec, const float* samples, uint32_t n, void* scratch,
                                 float* features, mote_error* error);

/* The same in parts, of sound that is too long to hold. mote_log_mel_frames: logarithms [frames, mels], frame i
   of samples[i * hop] to samples[i * hop + fft - 1], which the caller has reflected or filled up with zeros at
   the sound's ends. mote_log_mel_scale: what of `count` logarithms and the largest of all makes features. */
mote_status mote_log_mel_frames(const mote_log_mel* spec, const float* samples, uint32_t frames,
                                void* scratch, float* logarithms, mote_error* error);
float mote_log_mel_largest(const float* logarithms, uint64_t count);
void mote_log_mel_scale(float* features, uint64_t count, float largest);

/* NeMo's normalization: each of the features [frames, mels] less its mean over the frames, over its deviation
   and 1e-5. Two frames or more. */
void mote_normalize_features(float* features, uint32_t frames, uint32_t mels);

/* Streaming Moonshine's features: each row of `width` samples less their mean, over the root of their mean
   square and 1e-6; then asinh(scale x). Both [rows, width]; they may be the same. */
void mote_compress_frames(const float* samples, uint32_t rows, uint32_t width, float scale, float* features);

/* Fills filters [mels, bins] as Slaney's toolbox has them (1998): triangles of equal area in hertz, evenly
   spaced between 0 and half of `rate` on a scale that is linear below 1 kHz and logarithmic above. */
void mote_mel_filters(uint32_t rate, uint32_t mels, uint32_t bins, float* filters);

#ifdef __cplusplus
}
#endif

#endif
