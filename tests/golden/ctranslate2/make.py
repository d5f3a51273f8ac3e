#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden models as CTranslate2's model.bin, by its own library: make.py OUT (ctranslate2 4.8, safetensors)."""
import json
import pathlib
import sys

import ctranslate2.specs as specs
import numpy as np
from ctranslate2.converters import utils

MODELS = pathlib.Path(__file__).parent.parent / "models"
ACTIVATIONS = {"relu": 0, "gelu_new": 1, "swish": 2, "gelu": 3}


def read_tensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = (8 + length + at for at in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(data[first:last], np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data[first:last], {"F32": np.float32, "F16": np.float16}[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"]).astype(np.float32)
    return tensors


class Copy:
    def __init__(self, name):
        self.config = json.loads((MODELS / name / "config.json").read_text())
        self.tensors = read_tensors(MODELS / name / "model.safetensors")

    def linear(self, spec, *names):
        parts = []
        for name in names:
            part = specs.common_spec.LinearSpec()
            part.weight = self.tensors[name + ".weight"]
            if name + ".bias" in self.tensors:
                part.bias = self.tensors[name + ".bias"]
            parts.append(part)
        utils.fuse_linear(spec, parts)

    def norm(self, spec, name):
        spec.gamma = self.tensors[name + ".weight"]
        if name + ".bias" in self.tensors:
            spec.beta = self.tensors[name + ".bias"]

    def attention(self, spec, name, norm, keys, own):
        q, k, v, o = (f"{name}.{key}" for key in keys)
        if own:
            self.linear(spec.linear[0], q, k, v)
        else:
            self.linear(spec.linear[0], q)
            self.linear(spec.linear[1], k, v)
        self.linear(spec.linear[-1], o)
        self.norm(spec.layer_norm, norm)

    def save(self, spec, out, quantization):
        vocab = self.config["vocab_size"]
        tokens = [f"t{i}" for i in range(vocab)]
        spec.register_source_vocabulary(tokens)
        spec.register_target_vocabulary(tokens)
        spec.config.decoder_start_token = f"t{self.config['decoder_start_token_id']}"
        spec.config.eos_token = f"t{self.config['eos_token_id']}"
        spec.config.bos_token = "t1"
        spec.config.unk_token = "t0"
        spec.validate()
        spec.optimize(quantization)
        out.mkdir(parents=True, exist_ok=True)
        spec.save(str(out))


def bart(name, pre_norm, embedding_norm, positions):
    copy = Copy(name)
    config = copy.config
    spec = specs.TransformerSpec.from_config(
        (config["encoder_layers"], config["decoder_layers"]), config["encoder_attention_heads"], pre_norm=pre_norm,
        activation=ACTIVATIONS[config["activation_function"]], layernorm_embedding=embedding_norm)
    for side_name, side in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        base = f"model.{side_name}."
        embeddings = side.embeddings[0] if side_name == "encoder" else side.embeddings
        embeddings.weight = copy.tensors["model.shared.weight"]
        side.scale_embeddings = config["d_model"] ** 0.5 if config["scale_embedding"] else 1.0
        side.position_encodings.encodings = positions(copy, base)
        if embedding_norm:
            copy.norm(side.layernorm_embedding, base + "layernorm_embedding")
        if pre_norm:
            copy.norm(side.layer_norm, base + "layer_norm")
        keys = ("q_proj", "k_proj", "v_proj", "out_proj")
        for i, layer in enumerate(side.layer):
            prefix = f"{base}layers.{i}."
            copy.attention(layer.self_attention, prefix + "self_attn", prefix + "self_attn_layer_norm", keys, True)
            if side_name == "decoder":
                copy.attention(layer.attention, prefix + "encoder_attn", prefix + "encoder_attn_layer_norm", keys, False)
            copy.linear(layer.ffn.linear_0, prefix + "fc1")
            copy.linear(layer.ffn.linear_1, prefix + "fc2")
            copy.norm(layer.ffn.layer_norm, prefix + "final_layer_norm")
    spec.decoder.projection.weight = copy.tensors["model.shared.weight"]
    if "final_logits_bias" in copy.tensors:
        spec.decoder.projection.bias = copy.tensors["final_logits_bias"].reshape(-1)
    return copy, spec


def sines(copy, _):
    width = copy.config["d_model"]
    half = width // 2
    frequencies = np.exp(-np.log(10000.0) * np.arange(half) / half)
    angles = np.arange(copy.config["max_position_embeddings"])[:, None] * frequencies[None]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def t5(name):
    copy = Copy(name)
    config = copy.config
    spec = specs.TransformerSpec.from_config(
        (config["num_layers"], config["num_decoder_layers"]), config["num_heads"], pre_norm=True,
        activation=ACTIVATIONS[config["dense_act_fn"]], ffn_glu=config["is_gated_act"], relative_attention_bias=True,
        rms_norm=True)
    for side_name, side in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        embeddings = side.embeddings[0] if side_name == "encoder" else side.embeddings
        embeddings.weight = copy.tensors["shared.weight"]
        side.scale_embeddings = False
        copy.norm(side.layer_norm, f"{side_name}.final_layer_norm")
        for i, layer in enumerate(side.layer):
            prefix = f"{side_name}.block.{i}.layer."
            first = copy.tensors.get(prefix + "0.SelfAttention.relative_attention_bias.weight")
            if first is None:
                first = side.layer[0].self_attention.relative_attention_bias
            attention = layer.self_attention
            copy.attention(attention, prefix + "0.SelfAttention", prefix + "0.layer_norm", "qkvo", True)
            attention.queries_scale = 1.0
            attention.relative_attention_bias = first
            attention.relative_attention_max_distance = np.dtype("int32").type(
                config["relative_attention_max_distance"])
            last = prefix + "1."
            if side_name == "decoder":
                copy.attention(layer.attention, prefix + "1.EncDecAttention", prefix + "1.layer_norm", "qkvo", False)
                layer.attention.queries_scale = 1.0
                last = prefix + "2."
            dense = last + "DenseReluDense."
            if config["is_gated_act"]:
                copy.linear(layer.ffn.linear_0, dense + "wi_0")
                copy.linear(layer.ffn.linear_0_noact, dense + "wi_1")
            else:
                copy.linear(layer.ffn.linear_0, dense + "wi")
            copy.linear(layer.ffn.linear_1, dense + "wo")
            copy.norm(layer.ffn.layer_norm, last + "layer_norm")
    scaled = config.get("scale_decoder_outputs", config["tie_word_embeddings"])
    tied = "lm_head.weight" not in copy.tensors
    spec.decoder.projection.weight = copy.tensors["shared.weight" if tied else "lm_head.weight"]
    if scaled:
        spec.decoder.scale_outputs = config["d_model"] ** -0.5
    return copy, spec


def learned(copy, base):
    return copy.tensors[base + "embed_positions.weight"][2:]


def main():
    out = pathlib.Path(sys.argv[1])
    for name, make, quantization in (
            ("marian", lambda: bart("marian", False, False, sines), "float32"),
            ("bart", lambda: bart("bart", False, True, learned), "float16"),
            ("mbart", lambda: bart("mbart", True, True, learned), "float16"),
            ("t5_gated", lambda: t5("t5_gated"), "float16"),
            ("marian", lambda: bart("marian", False, False, sines), "int8")):
        copy, spec = make()
        copy.save(spec, out / f"{name}.{quantization}", quantization)


main()
