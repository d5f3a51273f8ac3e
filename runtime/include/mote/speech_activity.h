/* SPDX-License-Identifier: Apache-2.0 */
/* Tells speech from silence, noise and music, as a wake-up before a spotter of words or a recognizer: for
 * each 32 ms of sound the probability that somebody speaks. The detector is a small network over a spectrum
 * (models/speech), whose weights, 28 KB, are constants. Nothing allocates.
 *
 *   mote_speech_detector detector;
 *   mote_speech_start(&detector);
 *   float speech[2];
 *   uint32_t known = mote_speech_add(&detector, samples, 512, speech);  // again and again
 *   if (known != 0 && speech[known - 1] > 0.5f) wake_up();
 */
#ifndef MOTE_SPEECH_ACTIVITY_H_
#define MOTE_SPEECH_ACTIVITY_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MOTE_SPEECH_RATE = 16000, /* samples a second */
  MOTE_SPEECH_FRAME = 512,  /* samples that a probability is of */
  MOTE_SPEECH_DELAY = 4     /* frames behind one that its probability depends on */
};

/* The caller owns it and never looks inside; a detector is of one sound and one thread. */
typedef struct mote_speech_detector {
  float window[129], cosines[128], sines[128], rising[129]; /* tables */
  float turns_real[128], turns_imaginary[128];
  uint8_t edges[132];
  float samples[256];              /* of the frame, at half the rate */
  float real[128], imaginary[128]; /* its spectrum */
  float mean[24];
  float rows[5][24], near_rows[13][24]; /* of the last frames */
  float pending[2];                     /* samples that the next one at half the rate is made of */
  uint32_t held;                        /* samples of the frame */
  uint32_t odd;                         /* 1: a pair is half there */
  uint64_t frames;
} mote_speech_detector;

/* Begins a sound. */
void mote_speech_start(mote_speech_detector* detector);

/* Takes samples from -1 to 1 of one channel, in any pieces, and writes the probabilities of the frames that
   are known now, in order: at most count / 512 + 1. Returns how many. Pieces give the bits of the whole. */
uint32_t mote_speech_add(mote_speech_detector* detector, const float* samples, uint32_t count,
                         float* probabilities);

/* Writes the probabilities of the last frames, at most MOTE_SPEECH_DELAY, behind which there are no samples;
   a part of a frame at the end has none. Returns how many. */
uint32_t mote_speech_finish(mote_speech_detector* detector, float* probabilities);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_SPEECH_ACTIVITY_H_ */
