# SPDX-License-Identifier: Apache-2.0
"""Words said by espeak-ng's voices, at 16 kHz, from -1 to 1: pitch, speed and the size of the mouth vary, then the
place in the second, loudness and noise. Held-out voices say nothing in training."""
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np

RATE, SAMPLES = 16000, 16000
WORDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
OTHER = "other"  # the label of noise and of words such as these
OTHERS = """apple bird cat door eight five four happy house learn morning nine one paper river seven sheila six
    table three tree two visual water window wow zero follow backward forward music kitchen""".split()
LABELS = WORDS + [OTHER]

# Accents, and voices that each of them can have: names of files of espeak-ng's voices.
ACCENTS = ["en-us", "en-gb", "en-gb-x-rp", "en-029", "en-us-nyc", "en-gb-scotland"]
VOICES = """Alex Alicia Andy Denis Diogo Gene Henrique Hugo Jacky Lee Marco Mario Michael Mike Nguyen RicishayMax
    RicishayMax2 Storm Tweaky adam anika antonio aunty belinda benjamin boris caleb david ed edward f1 f2 f4
    grandma gustave iven iven3 john klatt klatt3 m1 m2 m4 m5 m7 marcelo max michel norbert pablo quincy rob
    robosoft sandro steph steph2 travis""".split()
HELD_OUT_ACCENTS = ["en-us", "en-gb", "en-gb-x-rp", "en-gb-x-gbclan"]
HELD_OUT_VOICES = "Andrea Annie f3 f5 m3 m6 m8 linda miguel paul pedro victor zac robert".split()


def read_wav(data):
    """Samples and the rate of espeak-ng's output, whose header has no length."""
    return np.frombuffer(data[44:], np.int16) / np.float32(32768), int.from_bytes(data[24:28], "little")


def resampled(samples, rate):
    """By the spectrum: 320 samples for every 441."""
    assert rate == 22050
    parts = -(-(len(samples) + 256) // 441)
    spectrum = np.fft.rfft(samples, 441 * parts)[: 160 * parts + 1]
    return (np.fft.irfft(spectrum, 320 * parts) * (320 / 441)).astype(np.float32)


def stretched(samples, factor):
    """Pitch and resonances `factor` times as high."""
    places = np.arange(0, len(samples) - 1, factor)
    return np.interp(places, np.arange(len(samples)), samples).astype(np.float32)


def trimmed(samples):
    loud = np.flatnonzero(np.abs(samples) > 0.03 * np.abs(samples).max())
    return samples[max(0, loud[0] - 160) : loud[-1] + 320]


def say(word, accent, voice, pitch, speed, factor):
    command = ["espeak-ng", "-v", f"{accent}+{voice}", "-p", str(pitch), "-s", str(speed), "--stdout", word]
    said = subprocess.run(command, capture_output=True, check=True).stdout
    sound = trimmed(stretched(resampled(*read_wav(said)), factor))[:SAMPLES]
    return sound / np.abs(sound).max()


def coloured(rng, samples=SAMPLES):
    """Noise from white to brown, or a hum among it; its mean square is 1."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** rng.uniform(0, 1)
    noise = np.fft.irfft(spectrum, samples)
    noise /= noise.std()
    if rng.random() < 0.3:
        noise += np.sin(2 * np.pi * rng.uniform(50, 400) / RATE * np.arange(samples)) * rng.uniform(0.5, 2)
    return noise / noise.std()


def placed(sound, rng):
    """The sound near the middle of a second, in noise of 8 to 35 decibels less, as loud as it may be."""
    free = SAMPLES - len(sound)
    start = int(np.clip(free / 2 + rng.uniform(-0.12, 0.12) * RATE, 0, free))
    second = np.zeros(SAMPLES)
    second[start : start + len(sound)] = sound
    if rng.random() < 0.3:  # a wall's echo
        late = rng.integers(80, 900)
        second[late:] += rng.uniform(0.1, 0.4) * second[:-late]
    second += coloured(rng) * sound.std() * 10 ** (-rng.uniform(8, 35) / 20)
    return (second / np.abs(second).max() * 10 ** (-rng.uniform(0, 24) / 20)).astype(np.float32)


def say_many(count, seed, accents, voices, others, mouths):
    """`count` words and their labels, as many of each; a share `others` is of other words. `mouths`: least and most factor
    of pitch and resonances."""
    rng = np.random.default_rng(seed)
    orders, labels = [], []
    for i in range(count):
        label = len(WORDS) if rng.random() < others else i % len(WORDS)
        word = rng.choice(OTHERS) if label == len(WORDS) else WORDS[label]
        orders.append((str(word), rng.choice(accents), rng.choice(voices), int(rng.integers(20, 81)),
                       int(rng.integers(115, 216)), rng.uniform(*mouths)))
        labels.append(label)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda order: say(*order), orders)), np.array(labels)


def training_words(count):
    return say_many(count, 1, ACCENTS, VOICES, 0.15, (0.85, 1.3))


def held_out_words(count):
    return say_many(count, 2, HELD_OUT_ACCENTS, HELD_OUT_VOICES, 0.1, (0.92, 1.08))


def seconds(sounds, labels, count, seed):
    """`count` seconds of the sounds in turn, some of noise alone, and their labels."""
    rng = np.random.default_rng(seed)
    made, answers = [], []
    for i in range(count):
        which = i % len(sounds)
        nothing = rng.random() < 0.02
        made.append(placed(coloured(rng, 8000) if nothing else sounds[which], rng))
        answers.append(len(WORDS) if nothing else labels[which])
    return np.stack(made), np.array(answers)
