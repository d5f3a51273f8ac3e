# SPDX-License-Identifier: Apache-2.0
"""Made-up sound at 16 kHz: sentences that espeak-ng's voices say, noises and music. What is held out says nothing in
training: other voices, other languages, other kinds of noise and music."""
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from keywords.speak import HELD_OUT_VOICES, OTHERS, VOICES, WORDS, coloured, read_wav, resampled, stretched  # noqa: E402

RATE = 16000
LANGUAGES = "en-us en-gb en-029 de fr es it pl tr sv hu cs ru sw id ro".split()
HELD_OUT_LANGUAGES = "en-gb-x-rp en-gb-scotland nl pt da fi".split()
MORE = """the weather in mountains changed quickly this morning please bring two loaves of bread and bottle milk our train
    leaves central station half past she opened because room was too warm children were playing football behind old
    church meeting moved from monday to thursday afternoon doctor told him stay bed for days nobody knew where key
    cellar kept remember switch off lights when you go home""".split()


def say(text, voice, pitch, speed, factor):
    command = ["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(speed), "--stdout", text]
    said = subprocess.run(command, capture_output=True, check=True).stdout
    sound = stretched(resampled(*read_wav(said)), factor)
    return sound / max(1e-6, np.abs(sound).max())


def sentences(count, seed, languages, voices, mouths):
    rng = np.random.default_rng(seed)
    words = WORDS + OTHERS + MORE
    orders = [(" ".join(rng.choice(words, rng.integers(1, 9))), f"{rng.choice(languages)}+{rng.choice(voices)}",
               int(rng.integers(15, 86)), int(rng.integers(100, 241)), rng.uniform(*mouths)) for _ in range(count)]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda order: say(*order), orders))


def training_sentences(count):
    return sentences(count, 1, LANGUAGES, VOICES, (0.85, 1.25))


def held_out_sentences(count):
    return sentences(count, 2, HELD_OUT_LANGUAGES, HELD_OUT_VOICES, (0.92, 1.1))


# ---- Noises ----

def swelling(rng, n):
    """Noise that comes and goes as wind, waves and traffic do."""
    points = rng.uniform(0.05, 1, max(2, int(n / RATE / rng.uniform(0.2, 2)) + 2))
    slow = np.interp(np.arange(n), np.linspace(0, n, len(points)), points)
    return coloured(rng, n) * slow


def clicks(rng, n):
    """Keys, drops and knocks."""
    sound = 0.02 * coloured(rng, n)
    for at in rng.integers(0, n, int(n / RATE * rng.uniform(1, 12)) + 1):
        length = int(rng.uniform(0.002, 0.08) * RATE)
        burst = rng.standard_normal(length) * np.exp(-np.arange(length) / length * 6)
        if rng.random() < 0.5:
            burst = burst * 0.3 + np.sin(2 * np.pi * rng.uniform(200, 3500) / RATE * np.arange(length)) * np.exp(
                -np.arange(length) / length * 5)
        end = min(n, at + length)
        sound[at:end] += rng.uniform(0.2, 1) * burst[: end - at]
    return sound


def beeps(rng, n):
    """Alarms and sirens."""
    time = np.arange(n) / RATE
    base, depth, speed = rng.uniform(300, 2500), rng.uniform(0, 0.4), rng.uniform(0.2, 6)
    phase = 2 * np.pi * np.cumsum(base * (1 + depth * np.sin(2 * np.pi * speed * time))) / RATE
    on = (np.sin(2 * np.pi * rng.uniform(0.3, 5) * time + rng.uniform(0, 6)) > rng.uniform(-1, 0.6)).astype(float)
    return np.sin(phase) * on + 0.02 * coloured(rng, n)


def machine(rng, n):
    """A motor: a hum's harmonics, perhaps of a changing speed, and noise that goes with it."""
    time = np.arange(n) / RATE
    pitch = rng.uniform(25, 240) * (1 + rng.uniform(0, 0.2) * np.sin(2 * np.pi * rng.uniform(0.05, 0.5) * time))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    sound = sum(rng.uniform(0, 1) / k * np.sin(k * phase + rng.uniform(0, 6)) for k in range(1, 14))
    return sound + rng.uniform(0.1, 1) * coloured(rng, n) * (1 + 0.7 * np.sin(phase * rng.integers(1, 4)))


def music(rng, n, plucked):
    """Chords and a tune over a beat. `plucked`: strings after Karplus and Strong, else tones of a few harmonics."""
    sound, beat = np.zeros(n), rng.uniform(0.18, 0.6)
    scale = rng.uniform(110, 330) * 2 ** (np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16]) / 12)
    shape = rng.uniform(0, 1, 8) / np.arange(1, 9) ** rng.uniform(0.5, 2)
    for at in np.arange(0, n, int(beat * RATE)):
        notes = rng.choice(scale, 3 if rng.random() < 0.4 else 1)
        length = min(n - at, int(beat * RATE * rng.choice([1, 1, 2, 4])))
        for note in notes:
            if plucked:
                period = max(2, int(RATE / note))
                string, out = rng.standard_normal(period), np.empty(length)
                for first in range(0, length, period):
                    part = min(period, length - first)
                    out[first : first + part] = string[:part]
                    string = 0.498 * (string + np.roll(string, 1))
            else:
                time = np.arange(length) / RATE
                wave = sum(a * np.sin(2 * np.pi * note * (k + 1) * time) for k, a in enumerate(shape))
                out = wave * np.minimum(1, time / 0.02) * np.exp(-time * rng.uniform(0.2, 4))
            sound[at : at + length] += out * rng.uniform(0.3, 1)
        if rng.random() < 0.6:  # a drum
            drum = rng.standard_normal(min(n - at, 1600)) * np.exp(-np.arange(min(n - at, 1600)) / rng.uniform(100, 700))
            sound[at : at + len(drum)] += drum * rng.uniform(0.2, 1.5)
    return sound


def birds(rng, n):
    """Chirps: short tones that rise and fall."""
    sound = 0.02 * coloured(rng, n)
    for at in rng.integers(0, n, int(n / RATE * rng.uniform(1, 6)) + 1):
        length = min(n - at, int(rng.uniform(0.03, 0.25) * RATE))
        sweep = np.linspace(rng.uniform(1200, 3800), rng.uniform(1200, 3800), max(1, length))
        sound[at : at + length] += np.sin(2 * np.pi * np.cumsum(sweep) / RATE) * np.hanning(max(1, length))
    return sound


def rain(rng, n):
    """Many small drops."""
    drops = (rng.random(n) < rng.uniform(0.001, 0.02)) * rng.standard_normal(n)
    ring = np.exp(-np.arange(200) / rng.uniform(5, 60)) * np.sin(2 * np.pi * rng.uniform(600, 3500) / RATE * np.arange(200))
    return np.convolve(drops, ring)[:n] + 0.05 * coloured(rng, n)


def bands(rng, n):
    """Noise of a few bands that swell at the pace of syllables."""
    sound, time = np.zeros(n), np.arange(n) / RATE
    for _ in range(rng.integers(1, 5)):
        spectrum = np.fft.rfft(rng.standard_normal(n))
        hertz = np.linspace(0, RATE / 2, len(spectrum))
        spectrum *= np.exp(-(((hertz - rng.uniform(200, 3800)) / rng.uniform(50, 800)) ** 2))
        swell = np.maximum(0, np.sin(2 * np.pi * rng.uniform(0.5, 9) * time + rng.uniform(0, 6)) + rng.uniform(-0.5, 1))
        band = np.fft.irfft(spectrum, n)
        sound += band / (band.std() + 1e-9) * swell * rng.uniform(0.2, 1)
    return sound


def bells(rng, n):
    """Struck bells and bars: partials that are no harmonics."""
    sound = np.zeros(n)
    for at in rng.integers(0, n, int(n / RATE * rng.uniform(1, 8)) + 1):
        length = min(n - at, int(rng.uniform(0.1, 1.5) * RATE))
        time, base = np.arange(length) / RATE, rng.uniform(150, 2000)
        for _ in range(5):
            tone = np.sin(2 * np.pi * base * rng.uniform(1, 6) * time) * np.exp(-time * rng.uniform(2, 25))
            sound[at : at + length] += tone * rng.uniform(0, 1)
    return sound


def bowed(rng, n):
    """A slow tune of a string or a pipe: many harmonics, a vibrato, a pitch that slides."""
    points = 2 + int(n / RATE * rng.uniform(0.5, 3))
    pitch = np.repeat(rng.uniform(90, 700) * 2 ** (rng.integers(-5, 8, points) / 12), n // points + 1)[:n]
    pitch = np.convolve(np.pad(pitch, 800, "edge"), np.ones(1601) / 1601, "valid")
    pitch *= 1 + rng.uniform(0, 0.02) * np.sin(2 * np.pi * rng.uniform(4, 7) * np.arange(n) / RATE)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    loud = np.interp(np.arange(n), np.linspace(0, n, points), rng.uniform(0.1, 1, points))
    slope = rng.uniform(0.6, 2)
    return loud * sum(rng.uniform(0.3, 1) / k**slope * np.sin(k * phase) for k in range(1, 16)) + 0.02 * coloured(rng, n)


TRAINING = [coloured, swelling, clicks, beeps, machine, bands, bells, bowed, lambda rng, n: music(rng, n, False),
            lambda rng, n: music(rng, n, False)]
HELD_OUT = [coloured, swelling, lambda rng, n: music(rng, n, True), birds, rain, machine]


def noise(rng, n, kinds):
    """One of the kinds, perhaps two; its mean square is 1."""
    sound = kinds[rng.integers(len(kinds))](rng, n)
    if rng.random() < 0.3:
        other = kinds[rng.integers(len(kinds))](rng, n)
        sound = sound / (sound.std() + 1e-9) + rng.uniform(0.1, 1) * other / (other.std() + 1e-9)
    return sound / (sound.std() + 1e-9)


# ---- Mixtures ----

FRAME = 512  # samples of a frame


def spoken(speech):
    """Which frames of clean speech are said: those within 35 dB of the loud ones, and gaps of 200 ms between them."""
    frames = speech[: len(speech) // FRAME * FRAME].reshape(-1, FRAME)
    power = (frames**2).mean(1)
    loud = power > np.quantile(power[power > 0], 0.9) * 10**-3.5 if (power > 0).any() else power > 0
    said = loud.copy()
    for gap in range(1, 7):
        for i in range(1, len(said) - gap):
            if loud[i - 1] and loud[i + gap] and not loud[i : i + gap].any():
                said[i : i + gap] = True
    return said


def mixture(rng, voices, kinds, seconds, decibels, silent=0.0):
    """Sentences with pauses in noise that is so much softer than they are, and which frames are said. `decibels` None:
    no noise but a trace."""
    n = int(seconds * RATE) // FRAME * FRAME
    speech, at = np.zeros(n), int(rng.uniform(0, 2.5) * RATE)
    while at < n and rng.random() >= silent:
        one = voices[rng.integers(len(voices))] * 10 ** (-rng.uniform(0, 8) / 20)
        end = min(n, at + len(one))
        speech[at:end] += one[: end - at]
        at = end + int(rng.exponential(1.2) * RATE)
    said = spoken(speech)
    if rng.random() < 0.3:  # a wall's echo
        late = rng.integers(80, 1600)
        speech[late:] += rng.uniform(0.1, 0.4) * speech[:-late]
    level = np.sqrt((speech.reshape(-1, FRAME)[said] ** 2).mean()) if said.any() else 0.1
    hiss = 10 ** (-rng.uniform(50, 90) / 20) if decibels is None else 10 ** (-decibels / 20)
    sound = speech + level * hiss * noise(rng, n, kinds if decibels is not None else [coloured])
    if decibels is None and rng.random() < 0.5:
        sound = speech.copy()  # digital silence between
    sound = sound / (np.abs(sound).max() + 1e-9) * 10 ** (-rng.uniform(0, 30) / 20)
    return sound.astype(np.float32), said
