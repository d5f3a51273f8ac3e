#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a Whisper of CTranslate2's (scripts/get_model whisper-tiny) as whisper.cpp reads it, for compare.py.

    bench/whisper_ggml.py CTRANSLATE2_DIRECTORY OUT.bin f32|f16"""
import json
import pathlib
import struct
import sys

import numpy

DTYPES = {0: numpy.float32, 1: numpy.int8, 2: numpy.int16, 3: numpy.int32, 4: numpy.float16}
HEAD_DIM, AUDIO_CONTEXT, TEXT_CONTEXT = 64, 1500, 448
MAGIC = 0x67676D6C
TYPES = {"f32": 0, "f16": 1}  # of matrices and convolutions; vectors and positions are f32
NORM = (("gamma", "weight"), ("beta", "bias"))
LINEAR = (("weight", "weight"), ("bias", "bias"))


def read_variables(path):
    """model.bin: a version, the specification's name and revision, then each variable's name, shape, type and bytes."""
    data, at = path.read_bytes(), 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    def text():
        (size,) = take("H")
        return take(f"{size}s")[0].rstrip(b"\0").decode()

    take("I"), text(), take("I")
    variables = {}
    for _ in range(take("I")[0]):
        name, (rank,) = text(), take("B")
        shape, (kind, size) = take(f"{rank}I"), take("BI")
        variables[name] = numpy.frombuffer(data, DTYPES[kind], size // numpy.dtype(DTYPES[kind]).itemsize, at).reshape(shape)
        at += size
    return variables


def renamed(variables, layers):
    """(name, array) as whisper.cpp calls them: OpenAI's names."""
    def parts(ours, theirs, names):
        for own, other in names:
            yield f"{ours}.{other}", variables[f"{theirs}/{own}"]

    def attention(ours, theirs, crosses):
        yield from parts(f"{ours}_ln", f"{theirs}/layer_norm", NORM)
        count = 1 if crosses else 3  # how many of query, key, value the first matrix holds
        matrices = [variables[f"{theirs}/linear_0/weight"], variables[f"{theirs}/linear_1/weight"]][:2 if crosses else 1]
        biases = [variables[f"{theirs}/linear_{i}/bias"] for i in range(len(matrices))]
        width = matrices[0].shape[0] // count
        weights, bias = numpy.concatenate(matrices), numpy.concatenate(biases)
        for i, name in enumerate(("query", "key", "value")):
            yield f"{ours}.{name}.weight", weights[i * width:(i + 1) * width]
            if name != "key":
                yield f"{ours}.{name}.bias", bias[i * width:(i + 1) * width]
        yield from parts(f"{ours}.out", f"{theirs}/linear_{len(matrices)}", LINEAR)

    for conv in ("conv1", "conv2"):
        yield f"encoder.{conv}.weight", variables[f"encoder/{conv}/weight"]
        yield f"encoder.{conv}.bias", variables[f"encoder/{conv}/bias"].reshape(-1, 1)
    yield "decoder.token_embedding.weight", variables["decoder/embeddings/weight"]
    for side in ("encoder", "decoder"):
        yield f"{side}.positional_embedding", variables[f"{side}/position_encodings/encodings"]
        yield from parts("encoder.ln_post" if side == "encoder" else "decoder.ln", f"{side}/layer_norm", NORM)
        for i in range(layers):
            ours, theirs = f"{side}.blocks.{i}", f"{side}/layer_{i}"
            yield from attention(f"{ours}.attn", f"{theirs}/self_attention", False)
            if side == "decoder":
                yield from attention(f"{ours}.cross_attn", f"{theirs}/attention", True)
            yield from parts(f"{ours}.mlp_ln", f"{theirs}/ffn/layer_norm", NORM)
            yield from parts(f"{ours}.mlp.0", f"{theirs}/ffn/linear_0", LINEAR)
            yield from parts(f"{ours}.mlp.2", f"{theirs}/ffn/linear_1", LINEAR)


def bytes_of(token, of_sign):
    return bytes(of_sign[sign] for sign in token)


def byte_signs():
    """GPT-2's signs for bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(others)}


def write(directory, out, kind):
    from faster_whisper.feature_extractor import FeatureExtractor
    variables = read_variables(directory / "model.bin")
    vocab, width = variables["decoder/embeddings/weight"].shape
    layers = sum(name.startswith("encoder/") and name.endswith("self_attention/linear_0/weight") for name in variables)
    mels = variables["encoder/conv1/weight"].shape[1]
    vocabulary = json.loads((directory / "tokenizer.json").read_text())["model"]["vocab"]
    signs = byte_signs()
    tokens = [bytes_of(token, signs) for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])
              if token != "<|endoftext|>"]
    filters = numpy.asarray(FeatureExtractor.get_mel_filters(16000, 400, mels), numpy.float32)
    heads = width // HEAD_DIM
    with open(out, "wb") as file:
        file.write(struct.pack("<12i", MAGIC, vocab, AUDIO_CONTEXT, width, heads, layers, TEXT_CONTEXT, width, heads,
                               layers, mels, TYPES[kind]))
        file.write(struct.pack("<2i", *filters.shape) + filters.tobytes())
        file.write(struct.pack("<i", len(tokens)))
        for token in tokens:
            file.write(struct.pack("<i", len(token)) + token)
        for name, array in renamed(variables, layers):
            small = array.ndim < 2 or name.endswith(("bias", "positional_embedding"))
            of_array = TYPES["f32" if small else kind]
            array = numpy.ascontiguousarray(array, numpy.float16 if of_array else numpy.float32)
            file.write(struct.pack(f"<3i{array.ndim}i", array.ndim, len(name), of_array, *reversed(array.shape)))
            file.write(name.encode() + array.tobytes())


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in TYPES:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), *sys.argv[2:])
