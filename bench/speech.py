#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transcribes spoken sentences with mote and with CTranslate2 and prints their word error rates and times.

    bench/speech.py MODEL.mote CTRANSLATE2_DIRECTORY [--type int8|float32] [--sentences N] [--threads 2]

espeak-ng speaks the sentences with voices of several speeds and pitches; both sides get the same files, the same weights
(`scripts/get_model whisper-tiny`, then `mote convert`) and decode greedily. Packages for the peer: ctranslate2, tokenizers,
numpy; without them mote alone is measured."""
import argparse
import array
import json
import pathlib
import re
import subprocess
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
SENTENCES = """The weather in the mountains changed quickly this morning.
Please bring two loaves of bread and a bottle of milk.
Our train leaves the central station at half past seven.
She opened the window because the room was too warm.
He has worked as a teacher in this town for twenty years.
The children were playing football behind the old church.
I would like a table for four people near the garden.
The meeting was moved from Monday to Thursday afternoon.
A small bird built its nest under the roof of our house.
They crossed the river on a narrow wooden bridge.
You should drink more water when the days are hot.
The doctor told him to stay in bed for three days.
We watched the stars until the moon came up.
My brother repaired the engine of his boat last summer.
The library closes at six o'clock on Saturdays.
Nobody knew where the key to the cellar was kept.
The soup needs a little more salt and some pepper.
Her new car is faster but it uses less fuel.
There was a long line of people in front of the museum.
The engineer explained how the machine saves energy.
In winter the lake freezes and people skate on it.
He wrote a letter to his grandmother every week.
The price of vegetables has gone up since last year.
Turn left at the bank and walk straight to the market.
The concert was cancelled because the singer was ill.
Many of the old trees fell down during the storm.
She speaks four languages and is learning a fifth.
The dog slept quietly in front of the fire.
We need a better plan before we start building.
The farmer sold his horses and bought a tractor.
It took them an hour to find a place to park.
The students asked the professor many difficult questions.
A good book is the best company on a long journey.
The bakery on the corner sells wonderful apple cake.
He forgot his umbrella and got completely wet.
The ship reached the harbour late in the evening.
Our neighbours have invited us to dinner on Sunday.
The police are looking for a man with a red jacket.
This river flows through three countries to the sea.
Remember to switch off the lights when you go home.""".split("\n")
VOICES = [("en-us", 150, 50), ("en-gb", 160, 45), ("en-us+f3", 145, 60), ("en-gb+m3", 155, 40)]


def words(text):
    return re.sub(r"[^a-z0-9' ]+", " ", text.lower()).replace("'", "").split()


def errors(expected, found):
    """The fewest words to change, leave out or put in (Levenshtein)."""
    row = list(range(len(found) + 1))
    for i, word in enumerate(expected, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]


def to_16_khz(path):
    """In place and by straight lines, so that both sides read the same samples."""
    with wave.open(str(path)) as sound:
        rate, frames = sound.getframerate(), sound.readframes(sound.getnframes())
    old = array.array("h", frames)
    new = array.array("h")
    for i in range(len(old) * 16000 // rate):
        at, part = divmod(i * rate, 16000)
        following = old[min(at + 1, len(old) - 1)]
        new.append(old[at] + (following - old[at]) * part // 16000)
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, 16000, len(new), "NONE", ""))
        sound.writeframes(new.tobytes())


def speak(folder, count):
    files = []
    for i, sentence in enumerate(SENTENCES[:count]):
        voice, speed, pitch = VOICES[i % len(VOICES)]
        path = folder / f"{i}.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", path, sentence], check=True)
        to_16_khz(path)
        files.append(path)
    return files


class Mote:
    name = "mote"

    def __init__(self, binary, model, threads):
        self.command = [binary, "transcribe", model, "--json", "--language", "en", "--threads", str(threads)]

    def text(self, path):
        run = subprocess.run([*self.command, path], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)["text"]


class CTranslate2:
    """Greedily, over the original's features of a file of at most half a minute."""
    name = "CTranslate2"

    def __init__(self, directory, kind, threads):
        import ctranslate2
        import tokenizers
        self.model = ctranslate2.models.Whisper(str(directory), compute_type=kind, intra_threads=threads)
        self.tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.end = self.tokenizer.token_to_id("<|endoftext|>")
        marks = ["<|startoftranscript|>"] + (["<|en|>", "<|transcribe|>"] if self.model.is_multilingual else [])
        self.prompt = [self.tokenizer.token_to_id(mark) for mark in marks]
        self.filters = mel_filters(self.model.n_mels)

    def features(self, path):
        import numpy
        with wave.open(str(path)) as sound:
            samples = numpy.frombuffer(sound.readframes(sound.getnframes()), numpy.int16) / 32768.0
        frames = len(samples) // 160
        padded = numpy.pad(numpy.pad(samples, (200, 0), "reflect"), (0, 1000))
        window = numpy.hanning(401)[:-1]
        powers = [abs(numpy.fft.rfft(padded[i * 160:i * 160 + 400] * window)) ** 2 for i in range(frames)]
        logs = numpy.log10(numpy.maximum(self.filters @ numpy.array(powers).T, 1e-10))
        features = (numpy.maximum(logs, logs.max() - 8) + 4) / 4
        return numpy.pad(features, ((0, 0), (0, 3000 - frames))).astype(numpy.float32)[None]

    def text(self, path):
        import ctranslate2
        features = ctranslate2.StorageView.from_array(self.features(path))
        ids = self.model.generate(features, [self.prompt], beam_size=1)[0].sequences_ids[0]
        return self.tokenizer.decode([i for i in ids if i < self.end])


def mel_filters(mels):
    """Slaney's, as the original has them."""
    import numpy
    last = 15 + 27 * numpy.log(8) / numpy.log(6.4)
    points = numpy.arange(mels + 2) * last / (mels + 1)
    edges = numpy.where(points < 15, points * 200 / 3, 1000 * 6.4 ** ((points - 15) / 27))
    hertz = numpy.linspace(0, 8000, 201)
    low, centre, high = (edges[i:i + mels, None] for i in range(3))
    return numpy.maximum(0, numpy.minimum((hertz - low) / (centre - low), (high - hertz) / (high - centre))) * 2 / (high - low)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--type", default="float32", choices=["int8", "float32"])
    parser.add_argument("--sentences", type=int, default=len(SENTENCES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--mote", type=pathlib.Path, default=ROOT / "build" / "mote")
    parser.add_argument("--show", action="store_true", help="print texts that differ")
    arguments = parser.parse_args()
    sides = [Mote(arguments.mote, arguments.model, arguments.threads)]
    try:
        sides.append(CTranslate2(arguments.directory, arguments.type, arguments.threads))
    except ImportError:
        print("ctranslate2 and tokenizers are not installed: mote alone")
    with tempfile.TemporaryDirectory() as folder:
        files = speak(pathlib.Path(folder), arguments.sentences)
        texts = []
        for side in sides:
            start = time.perf_counter()
            texts.append([words(side.text(path)) for path in files])
            seconds = time.perf_counter() - start
            wrong = sum(errors(words(s), t) for s, t in zip(SENTENCES, texts[-1]))
            total = sum(len(words(s)) for s in SENTENCES[: len(files)])
            print(f"{side.name}: {100 * wrong / total:.2f} % of {total} words wrong, {seconds / len(files):.2f} s a file")
    if len(texts) == 2:
        same = sum(a == b for a, b in zip(*texts))
        print(f"the same words in {same} of {len(files)} files")
        for sentence, a, b in zip(SENTENCES, *texts):
            if arguments.show and a != b:
                print(f"{sentence}\n  {sides[0].name}: {' '.join(a)}\n  {sides[1].name}: {' '.join(b)}")


if __name__ == "__main__":
    main()
