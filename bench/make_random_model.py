#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a Hugging Face directory of random weights in the shape of a known model, to measure speed and memory.

    bench/make_random_model.py llama-1b OUT      1.24 B parameters, bf16, 2.3 GiB in two shards
    bench/make_random_model.py smollm2-135m OUT  134 M parameters

Needs numpy. The weights are normal with deviation 0.02, the same at every call."""
import argparse
import json
import pathlib
import struct

import numpy

# hidden_size, intermediate_size, layers, heads, kv_heads, vocab, rope_theta
SHAPES = {
    "llama-1b": (2048, 8192, 16, 32, 8, 128256, 500000.0),
    "smollm2-135m": (576, 1536, 30, 9, 3, 49152, 100000.0),
}
SHARD_BYTES = 1 << 31


def tensors(shape):
    width, ffn, layers, heads, kv_heads, vocab, _ = shape
    head_dim = width // heads
    yield "model.embed_tokens.weight", (vocab, width)
    for i in range(layers):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", (width,)
        yield layer + "self_attn.q_proj.weight", (heads * head_dim, width)
        yield layer + "self_attn.k_proj.weight", (kv_heads * head_dim, width)
        yield layer + "self_attn.v_proj.weight", (kv_heads * head_dim, width)
        yield layer + "self_attn.o_proj.weight", (width, heads * head_dim)
        yield layer + "post_attention_layernorm.weight", (width,)
        yield layer + "mlp.gate_proj.weight", (ffn, width)
        yield layer + "mlp.up_proj.weight", (ffn, width)
        yield layer + "mlp.down_proj.weight", (width, ffn)
    yield "model.norm.weight", (width,)


def size_of(dims):
    return 2 * int(numpy.prod(dims))


def values(dims, random):
    """bf16 of normal numbers, or of 1 for a norm's vector, a block of rows at a time."""
    if len(dims) == 1:
        yield numpy.full(dims, 0x3F80, numpy.uint16).tobytes()
        return
    step = max(1, (1 << 24) // dims[1])
    for row in range(0, dims[0], step):
        block = random.standard_normal((min(step, dims[0] - row), dims[1]), numpy.float32) * 0.02
        yield (block.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()


def shards(shape):
    """Lists of (name, dims), each of at most SHARD_BYTES."""
    found, used = [[]], 0
    for name, dims in tensors(shape):
        if used + size_of(dims) > SHARD_BYTES and found[-1]:
            found.append([])
            used = 0
        found[-1].append((name, dims))
        used += size_of(dims)
    return found


def write_shard(path, members, random):
    header, offset = {}, 0
    for name, dims in members:
        header[name] = {"dtype": "BF16", "shape": list(dims), "data_offsets": [offset, offset + size_of(dims)]}
        offset += size_of(dims)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, dims in members:
            for block in values(dims, random):
                out.write(block)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    width, ffn, layers, heads, kv_heads, vocab, theta = shape = SHAPES[arguments.shape]
    arguments.out.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width, "intermediate_size": ffn,
        "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "head_dim": width // heads, "vocab_size": vocab, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
        "rope_theta": theta, "tie_word_embeddings": True, "hidden_act": "silu", "torch_dtype": "bfloat16",
    }
    (arguments.out / "config.json").write_text(json.dumps(config, indent=1))
    random = numpy.random.default_rng(1)
    parts = shards(shape)
    weight_map = {}
    for i, members in enumerate(parts):
        name = f"model-{i + 1:05}-of-{len(parts):05}.safetensors" if len(parts) > 1 else "model.safetensors"
        write_shard(arguments.out / name, members, random)
        weight_map |= {tensor: name for tensor, _ in members}
    if len(parts) > 1:
        index = {"metadata": {}, "weight_map": weight_map}
        (arguments.out / "model.safetensors.index.json").write_text(json.dumps(index))


if __name__ == "__main__":
    main()
