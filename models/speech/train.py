#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the detector of speech on made-up sound and writes its weights as C: python3 train.py. Needs numpy, torch and
espeak-ng.

--measure trains nothing and measures the weights that are there on held-out voices, languages, noises and music.
"""
import argparse
import json
import pathlib
import re
import time
import wave

import numpy as np
import torch

import features as f
import sounds

HERE = pathlib.Path(__file__).resolve().parent
WEIGHTS = HERE.parent.parent / "runtime/sound/speech_weights.inc"
WIDTH, NEAR, FAR = 24, (-3, -2, -1, 0, 1), (-9, -6, -3, 0, 3)  # frames that a layer sees
LEVELS = [0, 5, 10, 20]  # decibels that speech is above noise


class Detector(torch.nn.Module):
    """Rows [frames, 2 BANDS] to logits [frames]."""

    def __init__(self):
        super().__init__()
        self.rows = torch.nn.Linear(2 * f.BANDS, WIDTH)
        self.near = torch.nn.Linear(len(NEAR) * WIDTH, WIDTH)
        self.far = torch.nn.Linear(len(FAR) * WIDTH, WIDTH)
        self.out = torch.nn.Linear(WIDTH, 1)

    @staticmethod
    def around(x, places):
        """Rows of the places side by side; before the first and behind the last they are zeros."""
        frames, reach = x.shape[-2], max(abs(place) for place in places)
        padded = torch.nn.functional.pad(x, (0, 0, reach, reach))
        return torch.cat([padded[..., reach + place : reach + place + frames, :] for place in places], -1)

    def forward(self, x):
        x = torch.relu(self.rows(x))
        x = torch.relu(self.near(self.around(x, NEAR)))
        x = torch.relu(self.far(self.around(x, FAR)))
        return self.out(x)[..., 0]


def area(scores, answers):
    """The area under the curve of right and false alarms: the share of pairs in the right order."""
    order = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1.0
    said = answers.sum()
    return (order[answers].sum() - said * (said + 1) / 2) / (said * (len(answers) - said))


def training_set(count, sentences, seconds):
    rng = np.random.default_rng(5)
    voices, rows, answers = sounds.training_sentences(sentences), [], []
    for _ in range(count):
        level = None if rng.random() < 0.12 else rng.uniform(-7, 22)
        sound, said = sounds.mixture(rng, voices, sounds.TRAINING, seconds, level, 0.06)
        rows.append(f.features(sound))
        answers.append(said)
    return torch.tensor(np.stack(rows)), torch.tensor(np.stack(answers)).float()


def measure(model, sentences=150, count=40):
    voices = sounds.held_out_sentences(sentences)
    for level in [*LEVELS, None]:
        rng = np.random.default_rng(99)
        scores, answers = [], []
        for _ in range(count):
            sound, said = sounds.mixture(rng, voices, sounds.HELD_OUT, 12, level)
            with torch.no_grad():
                scores.append(model(torch.tensor(f.features(sound))).numpy())
            answers.append(said)
        scores, answers = np.concatenate(scores), np.concatenate(answers)
        right = ((scores > 0) == answers).mean()
        name = "no noise" if level is None else f"{level} dB"
        print(f"{name}: area {area(scores, answers):.4f}, {100 * right:.1f} % of frames right", flush=True)


def train(model, rows, answers, steps):
    best = torch.optim.AdamW(model.parameters(), 4e-3, weight_decay=1e-3)
    rates = torch.optim.lr_scheduler.OneCycleLR(best, 6e-3, steps)
    began = time.time()
    for step in range(steps):
        some = torch.randint(len(rows), (64,))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(rows[some]), answers[some])
        best.zero_grad()
        loss.backward()
        best.step()
        rates.step()
        if step % 500 == 0:
            print(f"step {step}: {loss.item():.4f}, {time.time() - began:.0f} s", flush=True)


def write(model):
    text = "// SPDX-License-Identifier: Apache-2.0\n//\n// Weights of the detector of speech: models/speech/train.py writes them.\n"
    for name, value in model.state_dict().items():
        # An input's weights for all outputs lie side by side.
        numbers = [f"{number:.6g}" for number in (value.T if value.dim() == 2 else value).flatten().tolist()]
        numbers = [(number if "." in number or "e" in number else number + ".0") + "f" for number in numbers]
        text += f"constexpr float k{''.join(part.title() for part in name.split('.'))}[{len(numbers)}] = {{\n"
        text += "".join(f"    {', '.join(numbers[i : i + 9])},\n" for i in range(0, len(numbers), 9)) + "};\n"
    WEIGHTS.write_text(text)


def load(model):
    text = WEIGHTS.read_text()
    for name, value in model.state_dict().items():
        found = re.search(rf"k{''.join(part.title() for part in name.split('.'))}\[\d+\] = {{([^}}]*)}}", text)[1]
        numbers = torch.tensor([float(number.strip().rstrip("f")) for number in found.split(",") if number.strip()])
        value.copy_(numbers.view(value.T.shape).T if value.dim() == 2 else numbers)
    return model


def write_wav(path, sound):
    """Of 8 bits, which are enough beside noise."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(sounds.RATE)
        file.writeframes((np.clip(sound, -1, 1) * 127 + 128).round().astype(np.uint8).tobytes())
    with wave.open(str(path)) as file:
        return (np.frombuffer(file.readframes(file.getnframes()), np.uint8).astype(np.float32) - 128) / 128


def keep(model):
    """Writes a few held-out sounds for tests, with the frames that are said and the model's probabilities."""
    folder, rng, known = HERE / "held-out", np.random.default_rng(7), {}
    folder.mkdir(exist_ok=True)
    voices = sounds.held_out_sentences(24)
    for name, level in (("0db-a", 0), ("0db-b", 0), ("0db-c", 0), ("10db", 10)):
        sound, said = sounds.mixture(rng, voices, sounds.HELD_OUT, 5, level)
        sound = write_wav(folder / f"{name}.wav", sound / np.abs(sound).max())
        with torch.no_grad():
            found = torch.sigmoid(model(torch.tensor(f.features(sound)))).numpy()
        known[name] = {"said": said.astype(int).tolist(), "probabilities": [round(float(p), 5) for p in found]}
    write_wav(folder / "sentence.wav", voices[0][: 2 * sounds.RATE])
    (folder / "known.json").write_text(json.dumps(known, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3600)
    parser.add_argument("--sentences", type=int, default=1200)
    parser.add_argument("--count", type=int, default=2000, help="mixtures of 8 seconds")
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(3)
    model = Detector()
    if arguments.measure:
        return measure(load(model))
    began = time.time()
    rows, answers = training_set(arguments.count, arguments.sentences, 8)
    print(f"{rows.shape[0]} mixtures made in {time.time() - began:.0f} s, {100 * answers.mean():.0f} % said", flush=True)
    train(model, rows, answers, arguments.steps)
    write(model)
    keep(load(model))
    measure(model)


if __name__ == "__main__":
    main()
