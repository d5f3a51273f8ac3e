#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a Hugging Face directory of random weights in the shape of a known model, to measure speed and memory.

    bench/make_random_model.py llama-1b OUT      1.24 B parameters, bf16, 2.3 GiB in two shards
    bench/make_random_model.py smollm2-135m OUT  134 M parameters
    bench/make_random_model.py qwen3-0.6b OUT    596 M parameters, heads of 128 with norms
    bench/make_random_model.py lfm2-350m OUT.gguf --gguf Q4_0    354 M parameters, short convolutions in 10 of 16 layers
    bench/make_random_model.py granite4-350m OUT.gguf --gguf Q4_0    340 M parameters, scans (Mamba-2) in 28 of 32 layers
    bench/make_random_model.py smollm2-layer OUT one layer of that with little but attention
    bench/make_random_model.py mixture-1g OUT    1.8 B parameters in 8 experts a layer, 2 of them chosen
    bench/make_random_model.py mixture-8b OUT    8.3 B parameters in 80 experts a layer, 8 of them chosen: 1.1 B
    bench/make_random_model.py bert-base OUT     110 M parameters, an encoder
    bench/make_random_model.py modernbert-base OUT    by torch and transformers; so are bge-small, minilm-reranker,
                                                 embedding-gemma, vit-base, clip-vit-b32 and wav2vec2-base
    bench/make_random_model.py llama-1b OUT.gguf --gguf Q4_0     a GGUF of random blocks, or Q8_0; mixtures too

Needs numpy. The weights are normal with deviation 0.02 (in a GGUF uniform), the same at every call."""
import argparse
import json
import pathlib
import struct

import numpy

# hidden_size, intermediate_size, layers, heads, kv_heads, vocab, rope_theta, head_dim. Where head_dim is not
# hidden_size / heads, the model is a Qwen3, whose heads have norms.
SHAPES = {
    "llama-1b": (2048, 8192, 16, 32, 8, 128256, 500000.0, 64),
    "smollm2-135m": (576, 1536, 30, 9, 3, 49152, 100000.0, 64),
    "qwen3-0.6b": (1024, 3072, 28, 16, 8, 151936, 1000000.0, 128),
    "lfm2-350m": (1024, 4608, 16, 16, 8, 65536, 1000000.0, 64),
    "granite4-350m": (768, 2048, 32, 12, 4, 100352, 10000.0, 64),
    "smollm2-layer": (576, 64, 1, 9, 3, 256, 100000.0, 64),
    "mixture-1g": (1024, 3584, 20, 16, 4, 32000, 1000000.0, 64),
    "mixture-8b": (2048, 1024, 16, 16, 4, 32000, 1000000.0, 128),
}
# Hybrids, as GGUF alone: the layers that attend. LFM2's others have short convolutions of 3 taps, Granite's scans.
HYBRIDS = {"lfm2-350m": ("lfm2", (2, 5, 8, 10, 12, 14)), "granite4-350m": ("granitehybrid", (10, 13, 17, 27))}
SCAN = {"conv_kernel": 4, "state_size": 128, "group_count": 1, "time_step_rank": 48, "inner_size": 1536}
GRANITE_SCALES = {"attention.scale": 0.015625, "embedding_scale": 12.0, "residual_scale": 0.246, "logit_scale": 3.0}
EXPERTS = {"mixture-1g": (8, 2), "mixture-8b": (80, 8)}  # in a layer, chosen for a token
BERT = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}
# By transformers: a class, and where its configuration is not the class's own.
OF_TRANSFORMERS = {
    "modernbert-base": ("ModernBertModel", {}),
    "bge-small": ("BertModel", {"hidden_size": 384, "intermediate_size": 1536}),
    "minilm-reranker": ("BertForSequenceClassification", {"hidden_size": 384, "intermediate_size": 1536,
                                                          "num_hidden_layers": 6, "num_labels": 1}),
    "embedding-gemma": ("Gemma3TextModel", {"hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 24,
                                            "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 256,
                                            "vocab_size": 262144, "max_position_embeddings": 2048,
                                            "sliding_window": 512, "use_bidirectional_attention": True}),
    "vit-base": ("ViTForImageClassification", {"num_labels": 1000}),  # patches of 16 x 16, pictures of 224 x 224
    "clip-vit-b32": ("CLIPModel", {}),
    "wav2vec2-base": ("Wav2Vec2ForCTC", {}),
}
SHARD_BYTES = 1 << 31


def is_qwen3(shape):
    return shape[7] != shape[0] // shape[3]


def tensors(shape, experts=0):
    width, ffn, layers, heads, kv_heads, vocab, _, head_dim = shape
    yield "model.embed_tokens.weight", (vocab, width)
    for i in range(layers):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", (width,)
        yield layer + "self_attn.q_proj.weight", (heads * head_dim, width)
        yield layer + "self_attn.k_proj.weight", (kv_heads * head_dim, width)
        yield layer + "self_attn.v_proj.weight", (kv_heads * head_dim, width)
        yield layer + "self_attn.o_proj.weight", (width, heads * head_dim)
        if is_qwen3(shape):
            yield layer + "self_attn.q_norm.weight", (head_dim,)
            yield layer + "self_attn.k_norm.weight", (head_dim,)
        yield layer + "post_attention_layernorm.weight", (width,)
        if experts:
            yield layer + "block_sparse_moe.gate.weight", (experts, width)
        feed_forwards = [("mlp.", "gate_proj", "up_proj", "down_proj")]
        if experts:
            feed_forwards = [(f"block_sparse_moe.experts.{e}.", "w1", "w3", "w2") for e in range(experts)]
        for prefix, gate, up, down in feed_forwards:
            yield layer + prefix + gate + ".weight", (ffn, width)
            yield layer + prefix + up + ".weight", (ffn, width)
            yield layer + prefix + down + ".weight", (width, ffn)
    yield "model.norm.weight", (width,)


def bert_tensors(sizes=BERT):
    width, ffn = sizes["hidden_size"], sizes["intermediate_size"]

    def linear(name, rows, cols):
        yield name + ".weight", (rows, cols)
        yield name + ".bias", (rows,)

    def norm(name):
        yield name + ".weight", (width,)
        yield name + ".bias", (width,)

    for table, rows in (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size")):
        yield f"embeddings.{table}_embeddings.weight", (sizes[rows], width)
    yield from norm("embeddings.LayerNorm")
    for i in range(sizes["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            yield from linear(f"{layer}attention.self.{part}", width, width)
        yield from linear(layer + "attention.output.dense", width, width)
        yield from norm(layer + "attention.output.LayerNorm")
        yield from linear(layer + "intermediate.dense", ffn, width)
        yield from linear(layer + "output.dense", width, ffn)
        yield from norm(layer + "output.LayerNorm")
    yield from linear("pooler.dense", width, width)


def size_of(dims):
    return 2 * int(numpy.prod(dims))


def values(name, dims, random):
    """bf16 of normal numbers, of 1 for a norm's weight, of 0 for a bias, a block of rows at a time."""
    if len(dims) == 1:
        yield numpy.full(dims, 0 if name.endswith(".bias") else 0x3F80, numpy.uint16).tobytes()
        return
    step = max(1, (1 << 24) // dims[1])
    for row in range(0, dims[0], step):
        block = random.standard_normal((min(step, dims[0] - row), dims[1]), numpy.float32) * 0.02
        yield (block.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()


def shards(members):
    """Lists of (name, dims), each of at most SHARD_BYTES."""
    found, used = [[]], 0
    for name, dims in members:
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
        for name, dims in members:
            for block in values(name, dims, random):
                out.write(block)


# ---- GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md ----

GGUF_TYPES = {"Q4_0": (2, 18), "Q8_0": (8, 34)}  # number, bytes of a block of 32
GGUF_NAMES = {"embed_tokens": "token_embd", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
              "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
              "q_norm": "attn_q_norm", "k_norm": "attn_k_norm",
              "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down",
              "gate": "ffn_gate_inp", "w1": "ffn_gate_exps", "w3": "ffn_up_exps", "w2": "ffn_down_exps"}


def gguf_name(name):
    parts = name.split(".")  # model.layers.0.self_attn.q_proj.weight
    if parts[1] == "layers":
        return f"blk.{parts[2]}.{GGUF_NAMES[parts[-2]]}.weight"
    return "output_norm.weight" if parts[1] == "norm" else GGUF_NAMES[parts[1]] + ".weight"


def attention_members(layer, shape):
    width, _, _, heads, kv_heads, _, _, head_dim = shape
    yield layer + "attn_q.weight", (heads * head_dim, width)
    yield layer + "attn_k.weight", (kv_heads * head_dim, width)
    yield layer + "attn_v.weight", (kv_heads * head_dim, width)
    yield layer + "attn_output.weight", (width, heads * head_dim)


def scan_members(layer, width):
    inner, heads, groups = SCAN["inner_size"], SCAN["time_step_rank"], SCAN["group_count"]
    mixed = inner + 2 * groups * SCAN["state_size"]
    yield layer + "ssm_in.weight", (inner + mixed + heads, width)
    yield layer + "ssm_conv1d.weight", (mixed, SCAN["conv_kernel"])
    yield layer + "ssm_conv1d.bias", (mixed,)
    yield layer + "ssm_dt.bias", (heads,)
    yield layer + "ssm_a", (heads, 1)
    yield layer + "ssm_d", (heads, 1)
    yield layer + "ssm_norm.weight", (groups, inner // groups)
    yield layer + "ssm_out.weight", (width, inner)


def hybrid_members(shape, family, attention):
    width, ffn, layers, _, _, vocab, _, head_dim = shape
    yield "token_embd.weight", (vocab, width)
    for i in range(layers):
        layer = f"blk.{i}."
        yield layer + "attn_norm.weight", (width,)
        if i in attention:
            yield from attention_members(layer, shape)
            if family == "lfm2":
                yield layer + "attn_q_norm.weight", (head_dim,)
                yield layer + "attn_k_norm.weight", (head_dim,)
        elif family == "lfm2":
            yield layer + "shortconv.in_proj.weight", (3 * width, width)
            yield layer + "shortconv.conv.weight", (width, 3)
            yield layer + "shortconv.out_proj.weight", (width, width)
        else:
            yield from scan_members(layer, width)
        yield layer + "ffn_norm.weight", (width,)
        yield layer + "ffn_gate.weight", (ffn, width)
        yield layer + "ffn_up.weight", (ffn, width)
        yield layer + "ffn_down.weight", (width, ffn)
    yield "token_embd_norm.weight" if family == "lfm2" else "output_norm.weight", (width,)


def gguf_members(shape, experts, hybrid):
    """Names and dims; the matrices of a layer's experts are one tensor."""
    if hybrid:
        yield from hybrid_members(shape, *hybrid)
        return
    for name, dims in tensors(shape, experts):
        if ".experts." not in name:
            yield gguf_name(name), dims
        elif ".experts.0." in name:
            yield gguf_name(name), (experts, *dims)


def is_gguf_float(name, dims):
    floats = ("ffn_gate_inp", "shortconv.conv", "ssm_conv1d", "ssm_a", "ssm_d", "ssm_norm")
    return len(dims) == 1 or any(part in name for part in floats)


def gguf_floats(name, dims, random):
    """1 where they scale and -1 where a state fades, else small."""
    if len(dims) == 1 or "ssm_norm" in name or "ssm_d" in name:
        return numpy.ones(dims, numpy.float32)
    if name.endswith("ssm_a"):
        return -numpy.ones(dims, numpy.float32)
    return (random.standard_normal(dims) * 0.02).astype(numpy.float32)


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_metadata(shape, experts, chosen, hybrid):
    width, ffn, layers, heads, kv_heads, vocab, theta, head_dim = shape
    family, attention = hybrid or ("qwen3" if is_qwen3(shape) else "llama", ())
    texts = {"general.architecture": family, "general.name": "random", "tokenizer.ggml.model": "no_vocab"}
    numbers = {"vocab_size": vocab, "context_length": 8192, "embedding_length": width, "block_count": layers,
               "feed_forward_length": ffn, "attention.head_count": heads,
               "attention.key_length": head_dim, "attention.value_length": head_dim, "rope.dimension_count": head_dim}
    if experts:
        numbers |= {"expert_count": experts, "expert_used_count": chosen}
    floats = {"attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": theta}
    if family == "granitehybrid":
        numbers |= {f"ssm.{key}": value for key, value in SCAN.items()}
        floats |= GRANITE_SCALES
    items = [gguf_text(k) + struct.pack("<I", 8) + gguf_text(v) for k, v in texts.items()]
    items += [gguf_text(f"{family}.{k}") + struct.pack("<II", 4, v) for k, v in numbers.items()]
    items += [gguf_text(f"{family}.{k}") + struct.pack("<If", 6, v) for k, v in floats.items()]
    key = gguf_text(f"{family}.attention.head_count_kv")
    if attention:
        of_layers = [kv_heads if i in attention else 0 for i in range(layers)]
        items.append(key + struct.pack(f"<IIQ{layers}i", 9, 5, layers, *of_layers))
        items.append(gguf_text("lfm2.shortconv.l_cache") + struct.pack("<II", 4, 3) if family == "lfm2" else
                     gguf_text("granitehybrid.rope.scaling.finetuned") + struct.pack("<IB", 7, 0))
    else:
        items.append(key + struct.pack("<II", 4, kv_heads))
    return items


def gguf_blocks(count, bytes_per_block, random):
    """Blocks of random numbers whose scales make them about 0.02."""
    step = 1 << 20
    for begin in range(0, count, step):
        block = random.integers(0, 256, (min(step, count - begin), bytes_per_block), numpy.uint8)
        scale = numpy.float16(0.004 if bytes_per_block == 18 else 0.0003)
        block[:, :2] = numpy.frombuffer(scale.tobytes(), numpy.uint8)
        yield block.tobytes()


def write_gguf(path, name, kind):
    shape, hybrid = SHAPES[name], HYBRIDS.get(name)
    experts, chosen = EXPERTS.get(name, (0, 0))
    number, bytes_per_block = GGUF_TYPES[kind]
    random = numpy.random.default_rng(1)
    infos, offset, members = [], 0, list(gguf_members(shape, experts, hybrid))
    for name, dims in members:
        count = int(numpy.prod(dims))
        size = 4 * count if is_gguf_float(name, dims) else count // 32 * bytes_per_block
        infos.append(gguf_text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *reversed(dims)) +
                     struct.pack("<IQ", 0 if is_gguf_float(name, dims) else number, offset))
        offset += size + -size % 32
    items = gguf_metadata(shape, experts, chosen, hybrid)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(members), len(items)) + b"".join(items) + b"".join(infos)
    with open(path, "wb") as out:
        out.write(header + b"\0" * (-len(header) % 32))
        for name, dims in members:
            if is_gguf_float(name, dims):
                out.write(gguf_floats(name, dims, random).tobytes())
            else:
                for block in gguf_blocks(int(numpy.prod(dims)) // 32, bytes_per_block, random):
                    out.write(block)
            out.write(b"\0" * (-out.tell() % 32))


# ---- Hugging Face ----


def llama_config(shape):
    width, ffn, layers, heads, kv_heads, vocab, theta, head_dim = shape
    return {
        "architectures": ["Qwen3ForCausalLM" if is_qwen3(shape) else "LlamaForCausalLM"],
        "model_type": "qwen3" if is_qwen3(shape) else "llama", "hidden_size": width,
        "intermediate_size": ffn,
        "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "head_dim": head_dim, "vocab_size": vocab, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
        "rope_theta": theta, "tie_word_embeddings": True, "hidden_act": "silu", "torch_dtype": "bfloat16",
    }


def mixture_config(shape, experts, chosen):
    return llama_config(shape) | {
        "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": experts,
        "num_experts_per_tok": chosen, "sliding_window": None,
    }


def bert_config():
    return BERT | {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12,
                   "position_embedding_type": "absolute", "pad_token_id": 0}


def write_directory(out, config, members):
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").write_text(json.dumps(config, indent=1))
    random = numpy.random.default_rng(1)
    parts = shards(members)
    weight_map = {}
    for i, part in enumerate(parts):
        name = f"model-{i + 1:05}-of-{len(parts):05}.safetensors" if len(parts) > 1 else "model.safetensors"
        write_shard(out / name, part, random)
        weight_map |= {tensor: name for tensor, _ in part}
    if len(parts) > 1:
        index = {"metadata": {}, "weight_map": weight_map}
        (out / "model.safetensors.index.json").write_text(json.dumps(index))


def write_by_transformers(out, name, arguments):
    """As the others' weights: matrices are normal, a norm's weights 1 and biases 0."""
    import torch
    import transformers
    kind = getattr(transformers, name)
    with torch.device("meta"):
        model = kind(kind.config_class(**arguments))
    model.to_empty(device="cpu")
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.02, generator=random)
            else:
                parameter.fill_(0 if name.endswith("bias") else 1)
    model.save_pretrained(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=[*SHAPES, "bert-base", *OF_TRANSFORMERS])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gguf", choices=GGUF_TYPES, help="write a GGUF file of this type instead of a directory")
    arguments = parser.parse_args()
    if arguments.gguf and arguments.shape not in SHAPES:
        parser.error("--gguf is for decoders")
    if not arguments.gguf and arguments.shape in HYBRIDS:
        parser.error(f"{arguments.shape} is made as a GGUF alone: give --gguf")
    if arguments.shape == "bert-base":
        write_directory(arguments.out, bert_config(), bert_tensors())
    elif arguments.shape in OF_TRANSFORMERS:
        write_by_transformers(arguments.out, *OF_TRANSFORMERS[arguments.shape])
    elif arguments.gguf:
        write_gguf(arguments.out, arguments.shape, arguments.gguf)
    elif arguments.shape in EXPERTS:
        shape, (experts, chosen) = SHAPES[arguments.shape], EXPERTS[arguments.shape]
        write_directory(arguments.out, mixture_config(shape, experts, chosen), tensors(shape, experts))
    else:
        write_directory(arguments.out, llama_config(SHAPES[arguments.shape]), tensors(SHAPES[arguments.shape]))


if __name__ == "__main__":
    main()
