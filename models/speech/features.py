# SPDX-License-Identifier: Apache-2.0
"""The features of runtime/sound/speech_activity.cpp: of 16 kHz sound, a row for every 32 ms."""
import numpy as np

RATE, WINDOW, BANDS = 8000, 256, 24  # samples after the rate is halved
LOWEST, FLOOR, DRIFT = 80.0, 1e-6, 0.03
OFFSET, SCALE = 6.0, 0.25


def filters():
    """[WINDOW / 2 + 1, BANDS]: triangles from 80 Hz to 4 kHz, evenly spaced in mels."""
    def mels(hertz):
        return 1127 * np.log(1 + hertz / 700)

    edges = np.linspace(mels(LOWEST), mels(RATE / 2), BANDS + 2)
    bins = mels(np.arange(WINDOW // 2 + 1) * RATE / WINDOW)[:, None]
    rising = (bins - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - bins) / np.diff(edges)[1:]
    return np.maximum(0, np.minimum(rising, falling))


FILTERS = filters()
HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)


def halved(sound):
    """Every second sample, with a quarter of each neighbour."""
    around = np.concatenate([np.zeros(1), sound, np.zeros(2)])
    count = len(sound) // 2
    at = 2 * np.arange(count)
    return 0.25 * around[at] + 0.5 * around[at + 1] + 0.25 * around[at + 2]


def features(sound):
    """[frames, 2 BANDS]: logarithms of the bands, then what they are above their slow mean."""
    low = halved(np.asarray(sound, np.float64))
    frames = low[: len(low) // WINDOW * WINDOW].reshape(-1, WINDOW)
    powers = np.abs(np.fft.rfft(frames * HANN)) ** 2
    logs = (np.log(powers @ FILTERS + FLOOR) + OFFSET) * SCALE
    above, mean = np.empty_like(logs), None
    for i, row in enumerate(logs):
        mean = row if mean is None else mean + DRIFT * (row - mean)
        above[i] = row - mean
    return np.concatenate([logs, above], 1).astype(np.float32)
