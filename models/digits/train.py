#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit reader on drawn digits and writes it beside this file: python3 train.py [--steps N]. Needs numpy.

--test FOLDER writes 500 held-out pictures as FOLDER/DIGIT-NUMBER.png and trains nothing, --lines FILE the first 100
as lines of a digit and the picture in hexadecimal digits. --mnist FOLDER measures the model
that is here on MNIST's t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte.
"""
import argparse
import json
import math
import pathlib
import struct
import sys
import time
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from digits.draw import SIDE, make  # noqa: E402
from small_vit import SmallVit, save_safetensors  # noqa: E402

PATCH, COLOURS = 7, 3
HELD_OUT = 77  # the seed of pictures that training never sees


def patches(pictures):
    """[n, 28, 28] to [n, 16, 49], from -1 to 1."""
    count = SIDE // PATCH
    cut = (2 * pictures - 1).reshape(-1, count, PATCH, count, PATCH).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(cut.reshape(len(pictures), count * count, PATCH * PATCH), np.float32)


def right(model, pictures, digits):
    chosen = np.concatenate([model.logits(patches(part)).argmax(-1) for part in np.array_split(pictures, 20)])
    return (chosen == digits).mean()


def write_png(path, picture):
    rows = (picture * 255).round().astype(np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def shifted(pictures, rng):
    """Each moved by up to two pixels: more pictures of the same ones."""
    result = np.zeros_like(pictures)
    for i, (down, across) in enumerate(rng.integers(-2, 3, (len(pictures), 2))):
        result[i] = np.roll(pictures[i], (down, across), (0, 1))
    return result


def train(steps, drawn):
    model = SmallVit(PATCH * PATCH, (SIDE // PATCH) ** 2, 10)
    began = time.time()
    pictures, digits = make(drawn, 1)
    print(f"{drawn} pictures drawn in {time.time() - began:.0f} s", flush=True)
    rng = np.random.default_rng(2)
    hits, losses = 0, 0.0
    for step in range(1, steps + 1):
        chosen = rng.integers(0, drawn, 128)
        rate = 3e-3 * min(1, step / 50) * 0.5 * (1 + math.cos(math.pi * step / steps))
        loss, correct = model.train(patches(shifted(pictures[chosen], rng)), digits[chosen], rate + 1e-5)
        hits, losses = hits + correct, losses + loss
        if step % 50 == 0:
            print(f"step {step}: loss {losses / 50:.3f}, right {hits / 64:.2f} %, {time.time() - began:.0f} s", flush=True)
            hits, losses = 0, 0.0
    return model


def load():
    model = SmallVit(PATCH * PATCH, (SIDE // PATCH) ** 2, 10)
    data = (HERE / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])

    def tensor(name):
        start, end = entries[name]["data_offsets"]
        return np.frombuffer(data[8 + length + start : 8 + length + end], np.float32).reshape(entries[name]["shape"])

    p = model.p
    for name, array in model.tensors((PATCH, PATCH), COLOURS).items():
        assert tensor(name).shape == array.shape, name
    p["patch.w"] = tensor("vit.embeddings.patch_embeddings.projection.weight").sum(1).reshape(model.width, -1).T
    p["patch.b"] = tensor("vit.embeddings.patch_embeddings.projection.bias")
    p["first"] = tensor("vit.embeddings.cls_token")[0, 0]
    p["positions"] = tensor("vit.embeddings.position_embeddings")[0]
    for i in range(model.layers):
        base = f"vit.encoder.layer.{i}."
        for kind, end in (("w", "weight"), ("b", "bias")):
            parts = [tensor(f"{base}attention.attention.{n}.{end}") for n in ("query", "key", "value")]
            p[f"{i}.qkv.{kind}"] = np.concatenate(parts).T
            for own, name in (("o", "attention.output.dense"), ("up", "intermediate.dense"), ("down", "output.dense")):
                p[f"{i}.{own}.{kind}"] = tensor(f"{base}{name}.{end}").T
            for own, name in (("norm1", "layernorm_before"), ("norm2", "layernorm_after")):
                p[f"{i}.{own}.{kind}"] = tensor(f"{base}{name}.{end}")
    for kind, end in (("w", "weight"), ("b", "bias")):
        p[f"norm.{kind}"] = tensor(f"vit.layernorm.{end}")
        p[f"labels.{kind}"] = tensor(f"classifier.{end}").T
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--drawn", type=int, default=4000)
    parser.add_argument("--test", type=pathlib.Path)
    parser.add_argument("--lines", type=pathlib.Path)
    parser.add_argument("--mnist", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.test:
        arguments.test.mkdir(parents=True, exist_ok=True)
        for i, (picture, digit) in enumerate(zip(*make(500, HELD_OUT))):
            write_png(arguments.test / f"{digit}-{i}.png", picture)
        return
    if arguments.lines:
        held_out = zip(*make(100, HELD_OUT))
        lines = [f"{digit} {(picture * 255).round().astype(np.uint8).tobytes().hex()}" for picture, digit in held_out]
        arguments.lines.write_text("\n".join(lines) + "\n")
        return
    if arguments.mnist:
        pictures = np.frombuffer((arguments.mnist / "t10k-images-idx3-ubyte").read_bytes()[16:], np.uint8)
        digits = np.frombuffer((arguments.mnist / "t10k-labels-idx1-ubyte").read_bytes()[8:], np.uint8)
        print(f"MNIST: {100 * right(load(), pictures.reshape(-1, SIDE, SIDE) / 255, digits):.2f} % right")
        return
    model = train(arguments.steps, arguments.drawn)
    save_safetensors(HERE / "model.safetensors", model.tensors((PATCH, PATCH), COLOURS))
    labels = [str(digit) for digit in range(10)]
    (HERE / "config.json").write_text(json.dumps(model.config(SIDE, PATCH, COLOURS, labels), indent=2) + "\n")
    (HERE / "preprocessor_config.json").write_text(json.dumps({
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": SIDE, "width": SIDE},
        "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
        "image_mean": [0.5] * COLOURS, "image_std": [0.5] * COLOURS}, indent=2) + "\n")
    print(f"held out: {100 * right(model, *make(5000, HELD_OUT)):.2f} % right")


if __name__ == "__main__":
    main()
