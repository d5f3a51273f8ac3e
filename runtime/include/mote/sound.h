/* SPDX-License-Identifier: Apache-2.0 */
/* Sound: what a model that hears or a decoder of speech takes, and features of sound, computed as the models'
   feature extractors do. Nothing allocates. */
#ifndef MOTE_SOUND_H
#define MOTE_SOUND_H

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a model takes ---- */

/* The kinds of rows of a spectrum. */
typedef enum mote_sound_features {
  MOTE_FEATURES_NONE = 0,               /* the file does not say */
  MOTE_FEATURES_LOG_MEL = 1,            /* Whisper's: `bins` of `fft` samples every `hop` */
  MOTE_FEATURES_COMPRESSED_FRAMES = 2,  /* mote_compress_frames of `hop` samples with `scale` */
  MOTE_FEATURES_NORMALIZED_LOG_MEL = 3, /* NeMo's: `bins` of `fft` samples every `hop` in a Hann
                                          window of `window`, of sample t less `scale` times sample t - 1 */
  MOTE_FEATURES_FILTER_BANK = 4, /* mote_filter_bank's: `bins` of `window` samples every `hop`, less `mean`,
                                   over `scale` */
  MOTE_FEATURES_NORMALIZED_FILTER_BANK = 5, /* Speech2Text's: mote_filter_bank's in Povey's window with a gain
                                          of 2^15, `bins` of `window` samples every `hop`; then
                                          mote_normalize_columns with `mean` and `scale`, each 0 or 1 */
  MOTE_FEATURES_DECIBELS = 6 /* CLAP's: of `longest` seconds that are filled up by `filling`, 10 times the
                                logarithms that mote_log_mel_frames gives of `fft` samples centred on every
                                `hop`, the sound being reflected at its ends, by mote_mel_filters_between
                                `lowest` and `highest` hertz; their rows, one more than hops, resized to
                                `frames` by mote_resize_frames, then squares */
} mote_sound_features;

/* How a sound that is too short becomes as long as a model hears. */
typedef enum mote_sound_filling {
  MOTE_FILLING_ZEROS = 0,
  MOTE_FILLING_COPIES = 1,    /* whole ones, then zeros */
  MOTE_FILLING_CUT_COPIES = 2 /* the last of which ends where the model's sound does */
} mote_sound_filling;

/* The input of a model that hears. */
typedef struct mote_sound_info {
  uint32_t rate;      /* samples of a second; 0: the model takes no sound */
  uint32_t waveform;  /* 1: rows are input_width neighbouring samples; 0: what was made of windows of them */
  uint32_t window;    /* samples that a waveform's first convolution reads at once */
  uint32_t normalize; /* 1: the samples have mean 0 and variance 1 */
  int32_t blank;      /* the label of CTC that stands for nothing, other labels being texts; -1: none is */
  /* Where patch is not 0, a sequence is `before` rows of zeros, then squares of patch bins x patch frames of
     a spectrum [frames, bins], bin by bin: those of all frames, frame_step apart, for every bin_step bins.
     Elsewhere a sequence has `frames` rows, or any number where that is 0. */
  uint32_t patch, frame_step, bin_step, frames, bins, before;
  mote_sound_features features;
  uint32_t fft, hop;
  float scale, mean;
  float longest; /* seconds of sound of one run, whose longer ones are cut; 0: `frames` or the context says it
                  */
  float margin;  /* of CTC: seconds on both sides of a cut whose labels are left out */
  mote_sound_filling filling; /* of MOTE_FEATURES_DECIBELS */
  float lowest, highest;      /* of MOTE_FEATURES_DECIBELS: hertz */
  float similarity_scale; /* of vectors that are compared with those of texts: their cosine times this is a
                             logit; 0: they are not */
  uint32_t unused;        /* 0 */
  uint64_t reserved[3];
} mote_sound_info;

void mote_model_get_sound(const mote_model* model, mote_sound_info* info);

/* 1: of a text that labels of CTC make, spaces before . ? ! , n't 'm 's 've 're and around a lone ' are left
   out. */
int mote_sound_cleans_up(const mote_model* model);

/* Ids of a decoder of speech that are no text, -1 for none; lists are in the file. */
typedef struct mote_speech_info {
  int32_t transcribe, translate; /* behind the language: the text is in it, or in English */
  int32_t no_timestamps;         /* behind that */
  int32_t first_timestamp;       /* that of 0 seconds; from it on each id is timestamp_frames later */
  int32_t previous;              /* in front of earlier text */
  int32_t no_speech;             /* its probability behind the first token is that of silence */
  uint32_t suppressed_count, suppressed_first_count, duration_count;
  uint32_t timestamp_frames;       /* of the spectrum, `hop` samples each */
  const int32_t* suppressed;       /* never chosen */
  const int32_t* suppressed_first; /* nor these as the first of a text */
  const uint32_t* durations;       /* of a transducer: groups that each column behind the labels' moves on */
  uint32_t language;   /* that texts are in by default, its number for mote_model_language plus 1; 0: the one
                          heard */
  uint32_t translates; /* 1: texts are in English by default */
  uint32_t names_task; /* 1: `transcribe` stands behind the language by default too */
  uint32_t latest_first;           /* timestamps behind that of 0 seconds that a text may begin with */
  float tokens_of_second;          /* most tokens of a text for each second of sound; 0: any number */
  uint32_t tokens_of_frame;        /* of a transducer: most tokens for each row of the source */
  const uint32_t* alignment_heads; /* [alignment_head_count, 2], an attention over the source and a head of
                                      it, which look where a token is said */
  uint32_t alignment_head_count;   /* 0: the file does not say */
  uint32_t unused;                 /* 0 */
  uint64_t reserved[2];
} mote_speech_info;

void mote_model_get_speech(const mote_model* model, mote_speech_info* info);

/* Rows that so many samples are, the last perhaps filled up with zeros: as many as windows begin in and end.
   With MOTE_FEATURES_NORMALIZED_FILTER_BANK rows are the frames that samples fill. 0: there are too few
   samples, or the model takes other features. */
uint32_t mote_sound_rows(const mote_model* model, uint64_t samples);

/* Labels the beginning of a sound, as long as the model hears at once: resamples it from `rate` samples a
   second, computes the features that the model takes, and encodes them: out [width], the probabilities of the
   labels (mote_model_label). `samples`, [count], are of one channel, from -1 to 1; a sound that is shorter is
   filled up as the model's authors do. `memory`, 4-byte aligned, has mote_classify_sound_bytes of the rate,
   and holds nothing afterwards. The session has the options of mote_session_options_default, or a chunk of
   mote_sound_square_rows at least. MOTE_WRONG_STATE: the model labels no sounds, or takes other features than
   filter banks (mote/host.h labels by those); MOTE_INVALID_ARGUMENT: mote_resampling_of refuses the rate, or
   the width is another. */
size_t mote_classify_sound_bytes(const mote_model* model, uint32_t rate); /* 0: it cannot be done */
mote_status mote_classify_sound(mote_session* session, const float* samples, uint64_t count, uint32_t rate,
                                void* memory, size_t memory_bytes, float* out, uint32_t width,
                                mote_error* error);

/* ---- Other rates ---- */

/* How sound of one rate becomes sound of another: each sample is the sum of the old ones around its time,
   weighted by a sinc in a Kaiser window of 32 zeros that is cut off at nine tenths of half the lower rate;
   the weights of a time add up to 1. Before the first sample and behind the last it is silent. */
typedef struct mote_resampling {
  uint32_t up, down; /* the new rate and the old one, without common factors */
  uint32_t reach;    /* old samples on each side of a time that have a weight; 0: the rates are equal */
  uint32_t unused;   /* 0 */
} mote_resampling;

/* MOTE_INVALID_ARGUMENT: a rate is 0 or more than 768000, or `up` would be more than 4096. */
mote_status mote_resampling_of(uint32_t from, uint32_t to, mote_resampling* spec, mote_error* error);

/* Bytes of the weights, 0 where the rates are equal or no memory is that large; and the weights. */
size_t mote_resample_bytes(const mote_resampling* spec);
void mote_resample_init(const mote_resampling* spec, float* weights);

/* Samples that n old ones become. */
uint64_t mote_resample_count(const mote_resampling* spec, uint64_t n);

/* Writes the new samples `first` to first + count - 1 to `out`, [count]. `samples`, [n], are the old ones
   from `begin` on, those that are `reach` around the new ones' times or all there are; others are silent.
   Parts give the same bits as the whole. */
void mote_resample(const mote_resampling* spec, const float* weights, const float* samples, uint64_t begin,
                   uint64_t n, uint64_t first, uint32_t count, float* out);

/* ---- Features ---- */

/* Whisper's features: frames of `fft` samples in a periodic Hann window, `hop` apart and centred on every
   hop, the sound being reflected at its ends; the powers of their spectrum, summed by filters; logarithms to
   the base of 10, of at least 1e-10 and at most 8 below the largest of all; plus 4, over 4. */
typedef struct mote_log_mel {
  uint32_t fft;         /* even, from 2 to MOTE_MOST_FFT */
  uint32_t hop;         /* samples */
  uint32_t mels;        /* features of a frame */
  uint32_t bins;        /* fft / 2 + 1 */
  const float* filters; /* [mels, bins] */
  uint32_t window;  /* of mote_log_mel_frames: samples of a symmetric Hann window in the middle of a frame; 0:
                       a periodic one of fft */
  uint32_t natural; /* 1: natural logarithms of sums plus 2^-24, as NeMo has them, in place of those above */
  uint64_t reserved[3];
} mote_log_mel;

enum { MOTE_MOST_FFT = 4096 };

/* Bytes of scratch; 0 for an fft and bins that there are no features of. */
size_t mote_log_mel_bytes(const mote_log_mel* spec);

/* features [n / hop, mels] of n samples, more than fft / 2. `scratch` is 8-byte aligned.
   MOTE_INVALID_ARGUMENT for sizes that are none. */
mote_status mote_log_mel_compute(const mote_log_mel* spec, const float* samples, uint32_t n, void* scratch,
                                 float* features, mote_error* error);

/* Compute the features in parts, of sound that is too long to hold. mote_log_mel_frames writes logarithms
   [frames, mels], frame i of samples[i * hop] to samples[i * hop + fft - 1]; the caller has reflected the
   samples or filled them up with zeros at the sound's ends. mote_log_mel_largest returns the largest of
   `count` logarithms. mote_log_mel_scale turns `count` logarithms into features by the largest of all.
 */
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

/* Kaldi's filter banks (fbank), as the feature extractors of AST and, where `povey` is 1, of Speech2Text have
   them: frames of `window` samples, `hop` apart, less their mean, of sample t 0.97 times sample t - 1 taken
   away, in a symmetric Hann window; the powers of their spectrum, summed by triangles that are evenly spaced
   in mels from 20 Hz to half of `rate`; natural logarithms of at least 2^-23; less `mean`, over `deviation`.
 */
typedef struct mote_filter_bank {
  uint32_t rate, window, hop;
  uint32_t fft;  /* a power of two from 4 to MOTE_MOST_FFT, `window` or more */
  uint32_t mels; /* features of a frame */
  float mean, deviation;
  uint32_t povey; /* 1: the window is Hann's to the power of 0.85 */
  float gain;     /* samples are multiplied by it; 0: they are not */
  uint32_t reserved[3];
} mote_filter_bank;

/* Bytes of scratch, which init fills and later calls read and write; 4-byte aligned. MOTE_INVALID_ARGUMENT
   for sizes that are none, whose bytes are 0 where they are more than memory has. */
size_t mote_filter_bank_bytes(const mote_filter_bank* spec);
mote_status mote_filter_bank_init(const mote_filter_bank* spec, void* scratch, mote_error* error);

/* features [frames, mels] of frames from `first` on of n samples. A frame that the samples do not fill is of
   logarithms that are 0. */
void mote_filter_bank_frames(const mote_filter_bank* spec, void* scratch, const float* samples, uint64_t n,
                             uint32_t first, uint32_t frames, float* features);

/* Those that a model takes (MOTE_FEATURES_FILTER_BANK, MOTE_FEATURES_NORMALIZED_FILTER_BANK).
   MOTE_WRONG_STATE: it takes others. */
mote_status mote_sound_filter_bank(const mote_sound_info* sound, mote_filter_bank* spec, mote_error* error);

/* Each column of features [frames, mels] less its mean over the frames if `mean` is not 0, and over its
   deviation, of the frames as the whole population, if `deviation` is not 0. A column that is the same in all
   frames has no deviation and becomes 0 where it is to be divided by it; the original has no number there.
   Returns how many columns have a deviation. */
uint32_t mote_normalize_columns(float* features, uint32_t frames, uint32_t mels, int mean, int deviation);

/* Where sound->patch is not 0: the model's rows [mote_sound_square_rows, patch * patch] of a spectrum
 * [frames, bins]. */
uint32_t mote_sound_square_rows(const mote_sound_info* sound);
void mote_sound_squares(const mote_sound_info* sound, const float* spectrum, float* rows);

/* Fills filters [mels, bins] as Slaney's toolbox has them (1998): triangles of equal area in hertz, evenly
   spaced between 0 and half of `rate` on a scale that is linear below 1 kHz and logarithmic above. */
void mote_mel_filters(uint32_t rate, uint32_t mels, uint32_t bins, float* filters);
/* The same between two frequencies in hertz, `lowest` below `highest`. */
void mote_mel_filters_between(uint32_t rate, float lowest, float highest, uint32_t mels, uint32_t bins,
                              float* filters);

/* Resizes rows [from, width] to [to, width] in time, by cubic convolution (a = -0.75) of the four nearest, of
   which those outside are the nearest inside; the first and the last row stay where they are (torch's bicubic
   interpolation with aligned corners). `from` and `to` are not 0. `out` is not `rows`. */
void mote_resize_frames(const float* rows, uint32_t from, uint32_t width, uint32_t to, float* out);

#ifdef __cplusplus
}
#endif

#endif
