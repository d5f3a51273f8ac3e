#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the keyword spotter on words said by espeak-ng and writes it beside this file: python3 train.py. Needs numpy
and espeak-ng.

--measure trains nothing and measures the model that is here on 2,000 held-out seconds; with --wav OUT it writes the
first of each label that is a word as OUT/WORD.wav instead.
"""
import argparse
import json
import pathlib
import sys
import time
import wave

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from keywords import features as f  # noqa: E402
from keywords import speak  # noqa: E402
from small_vit import SmallVit, write_idx  # noqa: E402

PATCH, TIME_STEP, MEL_STEP = 16, 8, 16
HELD_OUT = 77  # the seed of noise that training never hears
KEPT = slice(0, 1900, 19)  # of the held-out seconds, whose spectra are kept here


def squares(spectra):
    """[n, frames, mels] to rows of squares, mel by mel, of all times for each place in the spectrum."""
    turned = spectra.transpose(0, 2, 1)
    cut = [turned[:, mel : mel + PATCH, time : time + PATCH].reshape(len(spectra), -1)
           for mel in range(0, f.MELS - PATCH + 1, MEL_STEP) for time in range(0, f.FRAMES - PATCH + 1, TIME_STEP)]
    return np.ascontiguousarray(np.stack(cut, 1))


def varied(spectra, rng):
    """Each moved in time, louder or softer, without a few mels and frames: more spectra of the same seconds."""
    result = np.empty_like(spectra)
    for one, to in zip(spectra, result):
        to[:] = np.roll(one, rng.integers(-6, 7), 0) + rng.normal(0, 0.1)
        mel, frame = rng.integers(0, f.MELS), rng.integers(0, f.FRAMES)
        to[:, mel : mel + rng.integers(0, 4)] = to.mean()
        to[frame : frame + rng.integers(0, 8)] = to.mean()
    return result


def new_model():
    rows = ((f.FRAMES - PATCH) // TIME_STEP + 1) * ((f.MELS - PATCH) // MEL_STEP + 1)
    return SmallVit(PATCH * PATCH, rows, len(speak.LABELS), learned=2, width=64)


def train(steps, words, times):
    began = time.time()
    sounds, labels = speak.training_words(words)
    print(f"{words} words said in {time.time() - began:.0f} s", flush=True)
    parts = []
    for first in range(0, words * times, 500):  # a second is said `times` times, elsewhere and in other noise
        at = np.arange(first, min(first + 500, words * times)) % words
        seconds, answers = speak.seconds([sounds[i] for i in at], labels[at], len(at), 1000 + first)
        parts.append((f.features(seconds), answers))
    spectra, answers = (np.concatenate(part) for part in zip(*parts))
    print(f"{len(spectra)} seconds made in {time.time() - began:.0f} s", flush=True)
    rng = np.random.default_rng(2)
    return new_model().fit(steps, spectra, answers, lambda some: squares(varied(some, rng)))


def held_out(count):
    """Seconds and their labels."""
    return speak.seconds(*speak.held_out_words(min(count, 1000)), count, HELD_OUT)


def write_wavs(folder, seconds, labels):
    folder.mkdir(parents=True, exist_ok=True)
    for label, word in enumerate(speak.WORDS):
        with wave.open(str(folder / f"{word}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(f.RATE)
            file.writeframes((seconds[labels == label][0] * 32767).round().astype("<i2").tobytes())


def write(model):
    model.save(HERE / "model.safetensors", PATCH)
    config = {"architectures": ["ASTForAudioClassification"], "model_type": "audio-spectrogram-transformer",
              "patch_size": PATCH, "time_stride": TIME_STEP, "frequency_stride": MEL_STEP, "max_length": f.FRAMES,
              "num_mel_bins": f.MELS, **model.config(speak.LABELS)}
    (HERE / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (HERE / "preprocessor_config.json").write_text(json.dumps({
        "feature_extractor_type": "ASTFeatureExtractor", "sampling_rate": f.RATE, "num_mel_bins": f.MELS,
        "max_length": f.FRAMES, "do_normalize": True, "mean": f.MEAN, "std": f.DEVIATION}, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--words", type=int, default=6000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--wav", type=pathlib.Path)
    arguments = parser.parse_args()
    seconds, labels = held_out(2000)
    if arguments.wav is not None:
        return write_wavs(arguments.wav, seconds, labels)
    if arguments.measure:
        model = new_model().load(HERE / "model.safetensors")
    else:
        model = train(arguments.steps, arguments.words, arguments.times)
        write(model)
        write_wavs(HERE / "held-out", seconds, labels)
        spectra = f.features(seconds[KEPT])
        write_idx(HERE / "test-features.idx", ((spectra - 0.5) * 80 + 128).round().clip(0, 255))
        write_idx(HERE / "test-labels.idx", labels[KEPT])
    print(f"held out: {100 * model.right(squares(f.features(seconds)), labels):.2f} % right")


if __name__ == "__main__":
    main()
