#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an encoder-decoder of random weights in int8 as CTranslate2 keeps it, which mote converts too:

    bench/make_random_translator.py marian-base|flan-t5-small OUT        needs numpy and ctranslate2"""
import pathlib
import sys

import ctranslate2.specs as specs
import numpy

RANDOM = numpy.random.default_rng(7)
POSITIONS = 512


def matrix(rows, columns):
    return (RANDOM.standard_normal((rows, columns), numpy.float32) / columns**0.5).astype(numpy.float32)


def fill_linear(spec, rows, columns, bias):
    spec.weight = matrix(rows, columns)
    if bias:
        spec.bias = numpy.zeros(rows, numpy.float32)


def fill_norm(spec, width, bias):
    spec.gamma = numpy.ones(width, numpy.float32)
    if bias:
        spec.beta = numpy.zeros(width, numpy.float32)


def fill_attention(spec, width, inner, own, bias):
    if own:
        fill_linear(spec.linear[0], 3 * inner, width, bias)
    else:
        fill_linear(spec.linear[0], inner, width, bias)
        fill_linear(spec.linear[1], 2 * inner, width, bias)
    fill_linear(spec.linear[-1], width, inner, bias)
    fill_norm(spec.layer_norm, width, bias)


def fill_layer(layer, width, inner, ffn, bias):
    fill_attention(layer.self_attention, width, inner, True, bias)
    if hasattr(layer, "attention"):
        fill_attention(layer.attention, width, inner, False, bias)
    fill_linear(layer.ffn.linear_0, ffn, width, bias)
    if hasattr(layer.ffn, "linear_0_noact"):
        fill_linear(layer.ffn.linear_0_noact, ffn, width, bias)
    fill_linear(layer.ffn.linear_1, width, ffn, bias)
    fill_norm(layer.ffn.layer_norm, width, bias)


def marian_base():
    width, vocab = 512, 58100
    spec = specs.TransformerSpec.from_config((6, 6), 8, pre_norm=False, activation=2)
    table = matrix(vocab, width)
    angles = numpy.arange(POSITIONS)[:, None] * numpy.exp(-numpy.log(1e4) * numpy.arange(width // 2) / (width // 2))
    positions = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1).astype(numpy.float32)
    for side in (spec.encoder, spec.decoder):
        (side.embeddings[0] if side is spec.encoder else side.embeddings).weight = table
        side.scale_embeddings = True
        side.position_encodings.encodings = positions
        for layer in side.layer:
            fill_layer(layer, width, width, 2048, True)
    spec.decoder.start_from_zero_embedding = True
    spec.decoder.projection.weight = table
    spec.decoder.projection.bias = numpy.zeros(vocab, numpy.float32)
    return spec, vocab


def flan_t5_small():
    width, inner, vocab = 512, 384, 32128
    spec = specs.TransformerSpec.from_config((8, 8), 6, pre_norm=True, activation=1, ffn_glu=True,
                                             relative_attention_bias=True, rms_norm=True)
    table = matrix(vocab, width)
    for side in (spec.encoder, spec.decoder):
        (side.embeddings[0] if side is spec.encoder else side.embeddings).weight = table
        side.scale_embeddings = False
        fill_norm(side.layer_norm, width, False)
        bias = matrix(32, 6)
        for layer in side.layer:
            fill_layer(layer, width, inner, 1024, False)
            layer.self_attention.relative_attention_bias = bias
            layer.self_attention.relative_attention_max_distance = numpy.dtype("int32").type(128)
            for attention in (layer.self_attention, getattr(layer, "attention", layer.self_attention)):
                attention.queries_scale = 1.0
    spec.decoder.projection.weight = matrix(vocab, width)
    return spec, vocab


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("marian-base", "flan-t5-small"):
        sys.exit(__doc__)
    spec, vocab = marian_base() if sys.argv[1] == "marian-base" else flan_t5_small()
    tokens = ["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(3, vocab)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize("int8")
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True)
    spec.save(str(out))


main()
