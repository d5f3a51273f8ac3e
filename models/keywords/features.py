# SPDX-License-Identifier: Apache-2.0
"""Kaldi's filter banks as AST's feature extractor has them, [seconds, FRAMES, MELS] of 16 kHz sound."""
import numpy as np

RATE, WINDOW, HOP, FFT, MELS, FRAMES = 16000, 400, 160, 512, 32, 96
LOWEST, EMPHASIS, FLOOR = 20, 0.97, 1.192092955078125e-07
MEAN, DEVIATION = -9.0, 4.5


def filters():
    """[FFT / 2 + 1, MELS]: triangles between 20 Hz and half of the rate, evenly spaced in mels."""
    def mels(hertz):
        return 1127 * np.log(1 + hertz / 700)

    edges = np.linspace(mels(LOWEST), mels(RATE / 2), MELS + 2)
    bins = mels(np.arange(FFT // 2 + 1) * RATE / FFT)[:, None]
    rising = (bins - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - bins) / np.diff(edges)[1:]
    return np.maximum(0, np.minimum(rising, falling))


FILTERS = filters()
HANN = np.hanning(WINDOW)


def features(sound):
    """Of seconds [n, samples]."""
    frames = np.lib.stride_tricks.sliding_window_view(sound, WINDOW, axis=-1)[:, ::HOP][:, :FRAMES].astype(np.float64)
    frames = frames - frames.mean(-1, keepdims=True)
    before = np.concatenate([frames[..., :1], frames[..., :-1]], -1)
    powers = np.abs(np.fft.rfft((frames - EMPHASIS * before) * HANN, FFT)) ** 2
    banks = np.log(np.maximum(powers @ FILTERS, FLOOR))
    return ((banks - MEAN) / (2 * DEVIATION)).astype(np.float32)
