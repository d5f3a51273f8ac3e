#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit reader on drawn digits and writes it beside this file: python3 train.py [--steps N]. Needs numpy.

--measure [FOLDER] trains nothing and measures the model that is here on 5,000 held-out pictures, or on MNIST's
t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte of a folder; with --png OUT it writes these pictures as
OUT/DIGIT-NUMBER.png instead.
"""
import argparse
import json
import pathlib
import struct
import sys
import time
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from digits.draw import SIDE, make, warped  # noqa: E402
from small_vit import SmallVit, write_idx  # noqa: E402

PATCH, COLOURS = 7, 3
HELD_OUT = 77  # the seed of pictures that training never sees
TEST = 200     # of them, which are kept here


def patches(pictures):
    """[n, 28, 28] to [n, 16, 49], from -1 to 1."""
    count = SIDE // PATCH
    cut = (2 * pictures - 1).reshape(-1, count, PATCH, count, PATCH).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(cut.reshape(len(pictures), count * count, PATCH * PATCH), np.float32)


def write_png(path, picture):
    rows = (picture * 255).round().astype(np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def new_model():
    return SmallVit(PATCH * PATCH, (SIDE // PATCH) ** 2, 10)


def train(steps, drawn):
    began = time.time()
    pictures, digits = make(drawn, 1)
    print(f"{drawn} pictures drawn in {time.time() - began:.0f} s", flush=True)
    rng = np.random.default_rng(2)
    return new_model().fit(steps, pictures, digits, lambda some: patches(warped(some, rng)))


def read_idx(path):
    data = path.read_bytes()
    sizes = struct.unpack_from(f">{data[3]}I", data, 4)
    return np.frombuffer(data[4 + 4 * data[3] :], np.uint8).reshape(sizes)


def measured(folder):
    """Held-out pictures, or MNIST's, and their digits."""
    if folder is None:
        return make(5000, HELD_OUT)
    pictures = read_idx(folder / "t10k-images-idx3-ubyte")
    return pictures / np.float32(255), read_idx(folder / "t10k-labels-idx1-ubyte")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--drawn", type=int, default=12000)
    parser.add_argument("--measure", type=pathlib.Path, nargs="?", default=False)
    parser.add_argument("--png", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.measure is not False:
        pictures, digits = measured(arguments.measure)
        if arguments.png is None:
            model = new_model().load(HERE / "model.safetensors")
            print(f"{100 * model.right(patches(pictures), digits):.2f} % of {len(digits)} right")
            return
        arguments.png.mkdir(parents=True, exist_ok=True)
        for i, (picture, digit) in enumerate(zip(pictures, digits)):
            write_png(arguments.png / f"{digit}-{i}.png", picture)
        return
    model = train(arguments.steps, arguments.drawn)
    model.save(HERE / "model.safetensors", PATCH, COLOURS)
    config = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "image_size": SIDE,
              "patch_size": PATCH, "num_channels": COLOURS, **model.config([str(digit) for digit in range(10)])}
    (HERE / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (HERE / "preprocessor_config.json").write_text(json.dumps({
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": SIDE, "width": SIDE},
        "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
        "image_mean": [0.5] * COLOURS, "image_std": [0.5] * COLOURS}, indent=2) + "\n")
    pictures, digits = make(5000, HELD_OUT)
    write_idx(HERE / "test-images.idx", (pictures[:TEST] * 255).round())
    write_idx(HERE / "test-digits.idx", digits[:TEST])
    print(f"held out: {100 * model.right(patches(pictures), digits):.2f} % right")


if __name__ == "__main__":
    main()
