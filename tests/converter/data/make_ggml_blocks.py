# SPDX-License-Identifier: Apache-2.0
"""Writes ggml_blocks.safetensors: random blocks of every ggml type that the converter reads, and gguf-py's values.

    python make_ggml_blocks.py        (numpy, gguf, safetensors)
"""
import pathlib

import gguf
import numpy as np
from safetensors.numpy import save_file

# Byte offsets of a block's f16 numbers; all other bytes may be anything.
HALVES = {
    "F16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}
# Usual, negative, subnormal, the least and the greatest scale.
SCALES = [0.0123, -0.37, 3e-6, 6e-8, 65504.0]


def main():
    random = np.random.default_rng(1)
    tensors = {}
    for name, halves in {**HALVES, "BF16": [], "IQ4_NL": [0], "MXFP4": []}.items():
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        count = len(SCALES) if elements <= 32 else 2
        blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
        if name == "BF16":
            blocks[:, 1] &= 0xBF  # no infinity, no NaN
        if name == "MXFP4":
            blocks[:, 0] = [120, 127, 0, 1, 251][:count]  # usual exponents, two subnormal scales, the greatest finite
        for place, offset in enumerate(halves):
            for row in range(count):
                scale = np.float16(SCALES[(row + place) % len(SCALES)])
                blocks[row, offset:offset + 2] = np.frombuffer(scale.tobytes(), np.uint8)
        values = gguf.quants.dequantize(blocks, kind)
        assert np.isfinite(values).all()
        tensors[name + ".blocks"] = blocks
        tensors[name + ".values"] = np.ascontiguousarray(values, np.float32).reshape(count, elements)
    save_file(tensors, pathlib.Path(__file__).with_name("ggml_blocks.safetensors"))


main()
